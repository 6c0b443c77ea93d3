/** What settles calls before their response: their callers, their limits, their signals. Made at first use. */
import { RUN_BY_HOST } from "../../../../host/calls/in-flight.ts";
import { LateRuns } from "./late-runs.ts";
import { Cancellation } from "./cancellation.ts";
import { Deadlines } from "./deadlines.ts";
import { Signals } from "./abort-signals.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

export function createCancellation(host: PoolParts): Cancellation {
  const { startData, spec, dispatcher: { inFlight, lanes, waiting }, loop } = host;
  return new Cancellation({
    inFlight,
    lanes,
    abortEpochs: new Int32Array(startData["limits"] as SharedArrayBuffer),
    now: spec.runtime.now,
    onQueuedSettled: () => waiting.onQueuedSettled(),
    onRevoked: loop.kick,
    onOrphaned: () => host.part(createDeadlines).watch(),
  });
}

export function createDeadlines(host: PoolParts): Deadlines {
  const { spec: { runtime, options }, dispatcher: { inFlight, lanes }, supervisor } = host;
  return new Deadlines({
    inFlight,
    cancellation: host.part(createCancellation),
    lanes,
    hardTimeoutMs: options.hardTimeoutMs,
    now: runtime.now,
    setTimeout: runtime.setTimeout,
    takeResponses: () => host.takeResponses(),
    stretch: () => supervisor.stopping?.stretch ?? 1,
    stop: (lane, error) => supervisor.stopping!.stop(lane, error),
  });
}

export function createSignals(host: PoolParts): Signals {
  return new Signals((call, reason) => host.part(createCancellation).abort(call, reason));
}

/** For scopes. */
export function createLateRuns({ supervisor, dispatcher: { inFlight } }: PoolParts): LateRuns {
  return inFlight.lateRuns = new LateRuns((workerId) => {
    if (workerId === RUN_BY_HOST) return true;
    return [...supervisor.threads].some(({ id }) => id === workerId);
  });
}
