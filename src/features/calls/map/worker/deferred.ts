/** What is read for the first chunk of calls in a worker. */
export { chunkVariant } from "./chunks.ts";
