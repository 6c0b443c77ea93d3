/** The option `output`: takes what threads print. */
import { WeakMap } from "../../../../builtins.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import type { WorkerMessage } from "../../../../protocol/start-data.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

type OutputMessage = Extract<WorkerMessage, { readonly heddle: "output" }>;

/** Characters that are kept of what a worker wrote to stderr last, for the error of its end. */
const KEPT = 16 * 1024;

const lastErrors = new WeakMap<object, string>();

/** What a thread wrote to stderr last. Undefined: nothing, or the option does not ask for it. */
export function lastErrorsOf(lane: object): string | undefined {
  return lastErrors.get(lane);
}

/** A worker has printed. */
export function takeOutput(
  lane: Lane,
  { stream, text, call }: OutputMessage,
  { spec: { options: { output } } }: PoolParts,
): void {
  if (stream === "stderr") lastErrors.set(lane, ((lastErrors.get(lane) ?? "") + text).slice(-KEPT));
  if (typeof output === "function") output(text, { workerId: lane.id, stream, call });
}
