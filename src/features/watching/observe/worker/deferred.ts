/** What is read in a worker that is watched. */
export { startObserving } from "./observing.ts";
