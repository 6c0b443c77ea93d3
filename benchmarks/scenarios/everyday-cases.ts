/** Names of what `everyday` measures. */
export const TASK_MS = 2;
export const FILES = 500;

export const TASK = "a task of 2 ms";
export const WORKER_MEMORY = "memory of an idle worker";
export const COMMAND = "a command over 500 files";
export const EVERYDAY_CASES = [TASK, WORKER_MEMORY, COMMAND] as const;
export type EverydayCase = typeof EVERYDAY_CASES[number];

/** The command alone: all files on the main thread. */
export const NO_WORKER = "no worker";
