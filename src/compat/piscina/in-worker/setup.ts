/** What each worker does first: it becomes what tasks of Piscina expect, and loads the pool's function. */
import { shareWorkerData } from "../../../runtimes/piscina.ts";
import { type HandlerPlace, loadHandler } from "./handlers.ts";

/** What a worker gets, as clones. */
export interface SetupData {
  readonly workerData: unknown;
  /** The pool's function, loaded ahead. That the module has none is for its tasks to say. */
  readonly handler: HandlerPlace | undefined;
}

export default async function setUp({ workerData, handler }: SetupData): Promise<void> {
  shareWorkerData(workerData);
  if (handler !== undefined) await loadHandler(handler);
}
