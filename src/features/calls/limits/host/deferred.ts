/** What is read for the first call of a thread with a limit or a signal. */
export { createSignals } from "./abort-signals.ts";
export { createCancellation } from "./cancellation.ts";
export { StoppedWorkers } from "./stopped-workers.ts";
