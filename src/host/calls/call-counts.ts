/**
 * Counts of settled calls by task, always on: one increment for each settled call. Each variant of a task
 * (protocol/task-variants.ts) has a row of its own; row 0 counts calls whose task was never known.
 */

import { OBJECT } from "../../protocol/task-variants.ts";

/** Row of a call whose task is not known. */
export const UNKNOWN_ROW = 0;

/** The name of the task of a row, in a table of these tasks. Undefined: it is not known, or the call is one of an object. */
export function taskName(
  row: number,
  tasks: readonly { readonly name: string }[],
): string | undefined {
  const { length } = tasks;
  return row === UNKNOWN_ROW || row > OBJECT * length ? undefined : tasks[(row - 1) % length]?.name;
}

export class CallCounts {
  /** By row: calls that resolved, and calls that rejected for any reason. */
  readonly completed: Float64Array;
  readonly failed: Float64Array;

  /** `tasks`: indices in the pool's task table. */
  constructor(tasks: number) {
    this.completed = new Float64Array(tasks + 1);
    this.failed = new Float64Array(tasks + 1);
  }

  /** A call could not be made: its promise rejects. */
  refuse(row: number): void {
    this.failed[row]!++;
  }

  /** Sums of the rows of a task with all its variants, in a table of `tasks` tasks. */
  of(task: number, tasks: number): { readonly completed: number; readonly failed: number } {
    const sum = (rows: Float64Array): number => {
      let all = 0;
      for (let row = task + 1; row <= OBJECT * tasks; row += tasks) all += rows[row]!;
      return all;
    };
    return { completed: sum(this.completed), failed: sum(this.failed) };
  }

  /** Sums of all rows. */
  get total(): { readonly completed: number; readonly failed: number } {
    const sum = (rows: Float64Array): number => rows.reduce((all, count) => all + count, 0);
    return { completed: sum(this.completed), failed: sum(this.failed) };
  }
}
