/** The option `inliner`: which tasks the host may run itself, and how. */
import { InlineExecutor } from "../../host/dispatch/queue/inline-executor.ts";
import type { InlinerLimits } from "../../host/dispatch/queue/inline-executor.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { Codec } from "../../codec/codec.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

interface InliningParts {
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
}

export function createInlineExecutor(
  { options: { maxConcurrency }, tasks, signatures, runtime }: PoolSpec,
  limits: InlinerLimits,
  { codec, snapshots, dispatcher: { inFlight }, loop }: InliningParts,
): InlineExecutor {
  const inContext = runtime.bindContext();
  return new InlineExecutor({
    ...limits,
    codec,
    snapshots,
    inFlight,
    functions: tasks.map(({ f, settings, isStream }) =>
      settings.hasSignal === true || isStream ? undefined : f
    ),
    signatures,
    maxConcurrency,
    // As in a worker, a task sees no store of the call that happens to be on the stack.
    soon: (callback) => runtime.macrotask(() => inContext(callback)),
    onRoom: loop.kick,
  });
}
