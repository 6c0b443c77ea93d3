/** The variants of tasks as a worker runs them (protocol/task-variants.ts). */
import { VARIANTS } from "../../protocol/task-variants.ts";
import { seams } from "../feature.ts";
import type { WorkerCore } from "../worker-core.ts";
import type { WorkerTask } from "../task.ts";
import { withWraps } from "./task-modules.ts";

/** The tasks, then each of their variants; undefined: no feature runs it. */
export function withVariants(
  tasks: readonly WorkerTask[],
  core: WorkerCore,
): readonly (WorkerTask | undefined)[] {
  const { length } = tasks;
  const all: (WorkerTask | undefined)[] = [...tasks];
  for (let variant = 1; variant < VARIANTS; variant++) {
    const vary = seams.variants[variant];
    for (const task of tasks) {
      const index = task.index + variant * length;
      all.push(vary && withWraps({ ...task, ...vary(task, core), index }, core));
    }
  }
  return all;
}
