/** What is read for the first chunk of calls in a worker. */
export { chunkOf, withoutUncloneable } from "./chunks.ts";
