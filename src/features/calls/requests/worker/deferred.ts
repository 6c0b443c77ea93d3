/** What is read for the first request of a worker. */
export { Callback } from "./callback.ts";
export { hostRequests } from "./host-requests.ts";
export { references } from "./references.ts";
export { taskRequests } from "./task-requests.ts";
