/** The host's side of a pool: makes its parts, in an order in which each finds those it needs, and says what they tell each other. */
import { Codec } from "../codec/codec.ts";
import type { Signature } from "../codec/struct/signature.ts";
import { createAbortWords } from "../sync/abort-epochs.ts";
import { maxInlineBytes } from "../lane/endpoint.ts";
import { Holder } from "../lane/snapshot.ts";
import { HOST_CONTROL_BYTES, HOST_PARKED_WORD } from "../lane/layout.ts";
import { ServiceTimes, serviceTimesBytes } from "../lane/task-timings.ts";
import type { PoolStart, TaskSource } from "../lane/start-data.ts";
import type { WorkerLostError } from "../errors.ts";
import { MAX_ANSWERS } from "../host/responses.ts";
import { Backpressure } from "../host/dispatch/backpressure.ts";
import { createChooser } from "../host/balance/balancers.ts";
import type { GivenSettings } from "../host/cancel/call-settings.ts";
import { Endings } from "../host/cancel/cancellation.ts";
import { HostLoop } from "../host/poll-loop.ts";
import { Inliner } from "../host/inline-executor.ts";
import { LastOutput } from "../host/workers/last-output.ts";
import { type Receiver, SafetyCheck } from "../host/workers/watchdog.ts";
import { Scheduler, type SchedulerEvents } from "../host/dispatch/dispatcher.ts";
import { Signals } from "../host/cancel/abort-signals.ts";
import { Supervisor } from "../host/workers/supervisor.ts";
import type { LaneOptions } from "../host/workers/thread-lane.ts";
import { Timekeeper } from "../host/cancel/deadlines.ts";
import { AUTO_QUEUE_PER_THREAD, type ResolvedOptions } from "./options.ts";
import { ActiveCount, type SharedWord } from "../sync/awake-count.ts";
import { HostParker } from "../sync/host-parking.ts";
import type { Runtime, WorkerHandle } from "../runtimes/runtime.ts";

/** What the host knows of a task. */
export interface HostTask {
  readonly signature: Signature | undefined;
  readonly settings: GivenSettings;
  /** The function, unless only workers load it. */
  readonly f: ((...args: unknown[]) => unknown) | undefined;
}

export interface PoolSpec {
  readonly options: ResolvedOptions;
  readonly sources: readonly TaskSource[];
  readonly tasks: readonly HostTask[];
  readonly runtime: Runtime;
  /** The count of awake workers, and the shares above this pool's workers. */
  readonly active: readonly SharedWord[];
  /** The module that workers start with. */
  readonly workerEntry: URL;
}

/** What the pool has to see to itself. */
export interface PartEvents {
  /** Calls are in flight, and the host is about to wait. */
  onBusy(): void;
  /** No call is waiting for anything any more. */
  onEmpty(): void;
  /** The least number of workers is ready for the first time. */
  onReady(): void;
  /** The pool cannot work. */
  onFailed(error: Error): void;
  onDrain(): void;
  onUnhandledRejection(workerId: number, error: Error): void;
  onWorkerLost(error: WorkerLostError, wasReported: boolean): void;
  /** The thread of a stopped worker goes on. */
  onThreadAbandoned(workerId: number): void;
}

export interface PoolParts {
  readonly scheduler: Scheduler;
  readonly loop: HostLoop;
  readonly safety: SafetyCheck;
  readonly supervisor: Supervisor;
  readonly backpressure: Backpressure;
  readonly timekeeper: Timekeeper;
  readonly endings: Endings;
  readonly lastOutput: LastOutput;
}

/** Memory that the host shares with all workers of a pool. */
function shareMemory({ tasks, sources }: PoolSpec) {
  return {
    hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
    serviceTimes: new SharedArrayBuffer(serviceTimesBytes(sources.length)),
    abortWords: createAbortWords(tasks.some(({ settings }) => settings.hasSignal === true)),
  };
}

function startOf(
  { options, active, sources, runtime }: PoolSpec,
  memory: ReturnType<typeof shareMemory>,
): PoolStart {
  return {
    ...memory,
    active,
    cores: runtime.cores,
    tasks: sources,
    spinMs: options.spinMicroseconds / 1000,
    maxConcurrency: options.maxConcurrency,
    maxPayloadBytes: options.maxPayloadBytes,
    limits: options.workerLimits,
    maxMemory: options.maxWorkerMemory,
  };
}

/**
 * Starts the first thread before there is anything for it to do: it loads its code while the host makes the rest of the
 * pool. Returns what hands out this one, then starts others.
 */
function startThreads({ options, sources, runtime, workerEntry }: PoolSpec): LaneOptions["spawn"] {
  const modules = sources.map(({ moduleUrl }) => moduleUrl);
  const spawn = (workerId: number): WorkerHandle =>
    runtime.spawnWorker(workerEntry, `heddle-${workerId}`, options.workerLimits, modules);
  let first = options.minThreads > 0 ? spawn(0) : undefined;
  // Making the rest has failed.
  runtime.microtask(() => void first?.terminate());
  return (workerId) => {
    const handle = first ?? spawn(workerId);
    first = undefined;
    return handle;
  };
}

function laneOptionsOf(
  { options, runtime }: PoolSpec,
  codec: Codec,
  spawn: LaneOptions["spawn"],
  start: PoolStart,
): LaneOptions {
  const { startTimeoutMs, teardownTimeoutMs, ringBytes: ringSizes } = options;
  return { runtime, codec, spawn, ringSizes, start, startTimeoutMs, teardownTimeoutMs };
}

function createBackpressure(options: ResolvedOptions, onDrain: () => void): Backpressure {
  const { maxQueue, queuePolicy: policy, maxThreads } = options;
  const highWaterMark = Math.min(maxQueue, AUTO_QUEUE_PER_THREAD * maxThreads);
  return new Backpressure({ maxQueue, policy, highWaterMark, onDrain });
}

function createLastOutput(
  { onBeforeExit }: Runtime,
  { answers }: Scheduler,
  supervisor: Supervisor,
): LastOutput {
  return new LastOutput({
    onBeforeExit,
    responses: () => answers.taken,
    workers: () => supervisor.threads,
  });
}

/** Makes the parts of a pool. Throws what starting a thread throws. */
export function wire(spec: PoolSpec, events: PartEvents): PoolParts {
  const spawn = startThreads(spec);
  const { options, runtime } = spec;
  const memory = shareMemory(spec);
  const { maxPayloadBytes } = options;
  const codec = new Codec({ access: runtime, origin: 0, maxPayloadBytes, mayLend: true });
  const holder = new Holder(codec, maxInlineBytes(options.ringBytes.requests));
  const activeCount = new ActiveCount(spec.active, runtime.cores);
  const parker = new HostParker(new Int32Array(memory.hostControl), HOST_PARKED_WORD);
  const spinMs = options.spinMicroseconds / 1000;
  const backpressure = createBackpressure(options, events.onDrain);
  const scheduler = new Scheduler({
    holder,
    signatures: spec.tasks.map(({ signature }) => signature),
    isPromise: runtime.isPromise,
    placement: createChooser(options, activeCount),
    backpressure,
    serviceTimes: new ServiceTimes(memory.serviceTimes),
    recycleAfter: options.recycleAfter,
    now: runtime.now,
    setTimeout: runtime.setTimeout,
    // With each call: by the shortest way.
    events: { ...schedulerEvents(() => parts, events), onWork: () => loop.kick() },
  });
  const loop: HostLoop = new HostLoop(runtime, parker, activeCount, scheduler, spinMs);
  if (options.inliner !== undefined) {
    scheduler.waiting.inliner = createInliner(spec, codec, holder, scheduler, () => loop.kick());
  }
  const safety = new SafetyCheck(
    runtime,
    () => receivers(parts, parker),
    () => loop.onTick(),
  );
  const limits = createLimits(
    spec,
    scheduler,
    memory.abortWords,
    () => loop.kick(),
    () => supervisor,
  );
  const laneOptions = laneOptionsOf(spec, codec, spawn, startOf(spec, memory));
  const supervisor: Supervisor = new Supervisor(options, laneOptions, scheduler, activeCount, {
    ...events,
    onWake: () => loop.onWakeMessage(),
    onLost: (call, error) => limits.endings.lose(call, error),
  });
  const lastOutput = createLastOutput(runtime, scheduler, supervisor);
  const parts: LinkedParts = {
    scheduler,
    loop,
    safety,
    supervisor,
    backpressure,
    lastOutput,
    ...limits,
  };
  return parts;
}

interface LinkedParts extends PoolParts {
  readonly signals: Signals;
}

/** What the scheduler tells the other parts, which are there by the time it does. */
function schedulerEvents(
  parts: () => LinkedParts,
  events: PartEvents,
): Omit<SchedulerEvents, "onWork"> {
  /** Keeps the process running while calls are in flight: a worker may go on with what nobody waits for. */
  const holdIfBusy = (): void => {
    const { scheduler, safety } = parts();
    if (scheduler.inFlight.size === 0) return;
    safety.hold();
    events.onBusy();
  };
  return {
    onSettings: (call) => {
      const { hasSignal, signal, tickMs } = call.settings;
      const { endings, timekeeper, signals } = parts();
      if (hasSignal) endings.begin(call);
      if (tickMs !== Infinity) timekeeper.watch(tickMs);
      if (signal !== undefined) signals.watch(call, signal);
    },
    onAborted: () => parts().endings.aborted++,
    onRenewed: (call) => {
      if (call.settings.hasSignal) parts().endings.begin(call);
    },
    onWorn: (lane) => void parts().supervisor.recycle(lane),
    onUsedUp: (lane) => parts().supervisor.replaceUsedUp(lane),
    onSpent: (lane) => parts().supervisor.retire(lane),
    onPark: () => {
      holdIfBusy();
      parts().supervisor.look();
    },
    onWait: () => parts().supervisor.look(),
    onIdle: holdIfBusy,
    onEmpty: events.onEmpty,
  };
}

/** What ends calls before they are answered. */
function createLimits(
  { options, runtime }: PoolSpec,
  scheduler: Scheduler,
  abortWords: SharedArrayBuffer,
  poll: () => void,
  supervisor: () => Supervisor,
): Pick<LinkedParts, "endings" | "timekeeper" | "signals"> {
  const { inFlight, lanes } = scheduler;
  const endings: Endings = new Endings({
    inFlight,
    lanes,
    abortWords: new Int32Array(abortWords),
    now: runtime.now,
    onQueuedEnded: () => scheduler.waiting.onEnded(),
    onRevoked: poll,
    onAbandoned: () => timekeeper.watch(),
  });
  const timekeeper = new Timekeeper({
    inFlight,
    endings,
    lanes,
    hardTimeoutMs: options.hardTimeoutMs,
    now: runtime.now,
    setTimeout: runtime.setTimeout,
    takeAnswers: () => {
      if (scheduler.drain(MAX_ANSWERS) > 0) poll();
    },
    stretch: () => supervisor().stretch,
    stop: (lane, error) => supervisor().stop(lane, error),
  });
  const signals = new Signals((call, reason) => endings.abort(call, reason));
  return { endings, timekeeper, signals };
}

function createInliner(
  { options, tasks, runtime }: PoolSpec,
  codec: Codec,
  holder: Holder,
  { inFlight }: Scheduler,
  poll: () => void,
): Inliner {
  return new Inliner({
    ...options.inliner!,
    codec,
    holder,
    inFlight,
    functions: tasks.map(({ f, settings }) => settings.hasSignal === true ? undefined : f),
    signatures: tasks.map(({ signature }) => signature),
    maxConcurrency: options.maxConcurrency,
    soon: runtime.soon,
    onRoom: poll,
  });
}

/** The receivers of wake-ups, for the safety check. */
function* receivers(
  { scheduler: { lanes }, supervisor, loop }: PoolParts,
  parker: HostParker,
): Generator<readonly [unknown, Receiver]> {
  const threads = [...supervisor.threads].filter((lane) => lanes.all.includes(lane));
  for (const lane of threads) yield [lane, lane];
  yield [loop, {
    isAnnounced: parker.isAnnounced,
    isWaitingInLoop: loop.isParked,
    // A worker that rests has passed the wake that follows its answer.
    isLeftAlone: threads.some(({ endpoint, isWaitingInLoop }) =>
      isWaitingInLoop && endpoint.rx.hasRecord
    ),
    hasReason: lanes.hasResponse,
    progress: lanes.all.map((lane) => lane.endpoint.rx.headPosition).join(),
    wake: () => loop.onWakeMessage(),
    repost: () => loop.onWakeMessage(),
  }];
}
