/** What is read for the first synchronous call of a thread. */
export { createSync } from "../create-sync.ts";
