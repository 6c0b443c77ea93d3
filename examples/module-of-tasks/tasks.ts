/** Every function that this module exports is a task. Only workers load it. */
import { task } from "heddle/task";

export function sum(numbers: Float64Array): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export function parse(json: string): unknown {
  return JSON.parse(json);
}

/** A declared task has options for all its calls. */
export const sleep = task({
  runTimeoutMs: 2000,
  timeoutValue: "too late",
  f: async (ms: number): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return "in time";
  },
});
