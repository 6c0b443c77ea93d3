/** What is read for the first task of a worker that gets a signal, or the first abort. */
export { onAbort, taskSignals } from "./abort-signals.ts";
