/** What is read in a worker whose memory is limited. */
export { watchMemory } from "./memory-watch.ts";
