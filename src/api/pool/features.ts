/** How the parts of features are made, when they are first used (`PoolParts`). */
import { RUN_BY_HOST } from "../../host/calls/in-flight.ts";
import { LateRuns } from "../../host/calls/late-runs.ts";
import { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import { Cancellation } from "../../host/limits/cancellation.ts";
import { Deadlines } from "../../host/limits/deadlines.ts";
import { Signals } from "../../host/limits/abort-signals.ts";
import { StreamCalls } from "../../host/streams/stream-calls.ts";
import type { PoolParts } from "./parts.ts";

/** What settles calls before their response: by their callers, by their limits, by their signals. */
export function createCancellation(parts: PoolParts): Cancellation {
  const { abortEpochs, spec, dispatcher: { inFlight, lanes, waiting }, loop } = parts;
  return new Cancellation({
    inFlight,
    lanes,
    abortEpochs: new Int32Array(abortEpochs),
    now: spec.runtime.now,
    onQueuedSettled: () => waiting.onQueuedSettled(),
    onRevoked: loop.kick,
    onOrphaned: () => parts.deadlines.watch(),
  });
}

export function createDeadlines(parts: PoolParts): Deadlines {
  const { spec: { runtime, options }, dispatcher: { inFlight, lanes }, supervisor } = parts;
  return new Deadlines({
    inFlight,
    cancellation: parts.cancellation,
    lanes,
    hardTimeoutMs: options.hardTimeoutMs,
    now: runtime.now,
    setTimeout: runtime.setTimeout,
    takeResponses: () => parts.takeResponses(),
    stretch: () => supervisor.stopping?.stretch ?? 1,
    stop: (lane, error) => supervisor.stopping!.stop(lane, error),
  });
}

export function createSignals(parts: PoolParts): Signals {
  return new Signals((call, reason) => parts.cancellation.abort(call, reason));
}

/** The calls whose results are streams. */
export function createStreams(parts: PoolParts): StreamCalls {
  const { dispatcher: { inFlight, lanes }, safety } = parts;
  return new StreamCalls({
    inFlight,
    lanes,
    get cancellation() {
      return parts.cancellation;
    },
    onWanted: () => {
      safety.ref();
      parts.onBusy();
    },
  });
}

export function createBroadcasts(
  { spec: { signatures }, snapshots, dispatcher, supervisor }: PoolParts,
): Broadcasts {
  return new Broadcasts({
    snapshots,
    signatures,
    workerIds: () => supervisor.workerIds,
    isStarting: (workerId) => supervisor.isStarting(workerId),
    call: (...call) => dispatcher.submitter.submitSnapshot(...call),
    redeclare: (snapshot, task) => dispatcher.submitter.redeclare(snapshot, task),
    fail: (lane, error) => dispatcher.phases.end(lane, error),
  });
}

/** For scopes. */
export function createLateRuns({ supervisor }: PoolParts): LateRuns {
  return new LateRuns((workerId) => {
    if (workerId === RUN_BY_HOST) return true;
    return [...supervisor.threads].some(({ id }) => id === workerId);
  });
}
