/** What is read for the first request of a worker. */
export { createRequests } from "./host-requests.ts";
