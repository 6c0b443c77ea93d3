/** What is read for the first pool of processes. */
export { useProcesses } from "./use-processes.ts";
