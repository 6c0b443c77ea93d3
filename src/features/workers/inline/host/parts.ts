/** The option `inliner`: which tasks the host may run itself, and how. */
import { InlineExecutor } from "./inline-executor.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

export function createInlineExecutor(
  { codec, snapshots, dispatcher: { inFlight }, loop, spec }: PoolParts,
): InlineExecutor {
  const { options: { maxConcurrency, inliner }, tasks, signatures, runtime } = spec;
  const inContext = runtime.bindContext();
  return new InlineExecutor({
    ...inliner!,
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
