/** What each worker does first: it becomes what tasks of Piscina expect, and loads the pool's function. */
import { onWorkerSetup } from "../../runtimes/piscina.ts";
import { host } from "../../mod-task.ts";
import { load } from "./runner.ts";

/** What a worker gets, as clones. */
export interface SetupData {
  readonly workerData: unknown;
  /** The pool's function, which is number 0. */
  readonly handler: readonly [url: string, filename: string, name: string] | undefined;
}

export default async function setUp({ workerData, handler }: SetupData): Promise<void> {
  onWorkerSetup(workerData, (message) => {
    void host.call["message"]!(message);
  });
  if (handler !== undefined) await load(0, ...handler);
}
