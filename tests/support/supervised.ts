/** A supervisor without threads or a dispatcher: the test plays both, on a clock of its own. */
import { type WorkerLostError, WorkerStartError } from "../../src/errors.ts";
import type { PendingCall } from "../../src/host/calls/in-flight.ts";
import type { Dispatcher } from "../../src/host/dispatch/dispatcher.ts";
import type { Lane } from "../../src/host/lanes/lane.ts";
import { LaneSet } from "../../src/host/lanes/lane-set.ts";
import {
  type PoolSize,
  Supervisor,
  type SupervisorEvents,
  type WorkerExit,
} from "../../src/host/workers/supervisor.ts";
import type { LaneOptions } from "../../src/host/workers/thread-lane.ts";
import { Endpoint } from "../../src/lane/endpoint.ts";
import { RESULT_NUMBER } from "../../src/lane/frame.ts";
import { REQUEST_RING, responseRing } from "../../src/lane/layout.ts";
import type { WorkerMessage, WorkerStart } from "../../src/protocol/start-data.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { hostRuntime } from "../../src/runtimes/host.ts";
import type { HostRuntime, Timer } from "../../src/runtimes/runtime.ts";
import type { WorkerHandle } from "../../src/runtimes/worker-handle.ts";
import { AwakeCount } from "../../src/sync/awake-count.ts";
import { useInHost } from "../../src/api/pool/feature.ts";
import { hostFeatures } from "../../src/features/host.ts";
import { createCodec } from "./endpoints.ts";

useInHost(hostFeatures);

interface FakeTimer {
  readonly callback: () => void;
  readonly delayMs: number;
  readonly atMs: number;
  isRef: boolean;
}

const port = { post: () => {}, receive: () => undefined, close: () => {} };

/** A runtime whose time passes when the test says so. */
function createClock() {
  let nowMs = 0;
  const timers = new Set<FakeTimer>();
  const setTimeout = (callback: () => void, delayMs: number): Timer => {
    const timer = { callback, delayMs, atMs: nowMs + delayMs, isRef: true };
    timers.add(timer);
    return {
      ref: () => timer.isRef = true,
      unref: () => timer.isRef = false,
      clear: () => void timers.delete(timer),
    };
  };
  const createChannel = () => ({ local: port, remote: {} });
  const runtime: HostRuntime = {
    ...hostRuntime,
    cores: 4,
    stopsThreads: true,
    now: () => nowMs,
    setTimeout,
    createChannel,
    macrotask: (callback) => callback(),
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.callback();
  };
  return { pass, runtime, timers };
}

/** The thread of a worker. */
export class FakeThread implements WorkerHandle {
  isTerminated = false;
  #start: WorkerStart | undefined;
  #onMessage: (message: unknown) => void = () => {};
  #onExit: (exitCode: number | undefined) => void = () => {};

  post(message: unknown): void {
    this.#start ??= message as WorkerStart;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#onMessage = listener;
  }

  onError(): void {}

  onExit(listener: (exitCode: number | undefined) => void): void {
    this.#onExit = listener;
  }

  ref(): void {}
  unref(): void {}

  terminate(): Promise<void> {
    this.isTerminated = true;
    return Promise.resolve();
  }

  send(message: WorkerMessage): void {
    this.#onMessage(message);
  }

  ready(): void {
    this.send({ heddle: "ready" });
  }

  exit(exitCode = 1): void {
    this.#onExit(exitCode);
  }

  /** Answers a call of `host`, which reads the response. */
  respond(host: Endpoint): void {
    const { lane, requestCapacity } = this.#start!;
    const worker = new Endpoint(
      SpscRing.attach(lane, responseRing(requestCapacity)).takeProducer(),
      SpscRing.attach(lane, REQUEST_RING).takeConsumer(),
      createCodec(1),
      port,
    );
    worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1);
    host.rx.verify(host.rx.poll());
    host.rx.release();
  }
}

/** The dispatcher as the supervisor sees it. Its lanes run only the calls in `lost`, which their end returns. */
function createDispatcher() {
  const lanes = new LaneSet();
  const lost: PendingCall[] = [];
  return {
    lanes,
    lost,
    /** Calls that wait for a further worker. */
    waitingCalls: 0,
    /** Calls in lanes, behind others. */
    followingCalls: 0,
    get startable() {
      return {
        count: this.waitingCalls,
        following: this.followingCalls,
        isStuck: false,
        first: undefined,
      };
    },
    backlogMs: undefined,
    waiting: { queued: 0, retry: (call: PendingCall) => (call.extra?.retries ?? 0) > 0 },
    pending: { kick: () => {} },
    responses: { taken: 0 },
    phases: {
      open: (lane: Lane) => lanes.move(lane, "open"),
      drain: (lane: Lane, reason: string): void => {
        lanes.move(lane, "draining");
        lane.endsFor = reason;
      },
      end: (lane: Lane, reason: string | Error): void => {
        lanes.move(lane, "closing");
        lanes.ignore(lane);
        void lane.end(reason);
      },
      onGone: (): PendingCall[] => lost.splice(0),
    },
  };
}

/** What a supervisor reports. */
function createEvents() {
  const events: string[] = [];
  const exits: (readonly [exit: WorkerExit, error: WorkerLostError | undefined])[] = [];
  const failures: Error[] = [];
  const nothing = (): void => {};
  const listeners: SupervisorEvents = {
    onTasks: () => undefined,
    onWake: nothing,
    onWoken: undefined,
    onPrepare: (_lane, onDone) => onDone(),
    onReady: () => void events.push("ready"),
    onWorkerStart: (id) => void events.push(`${id} takes calls`),
    onEnded: (id) => void events.push(`${id} ended`),
    onLost: (call) => void events.push(`call ${call.slot} is lost`),
    onFailed: (error) => void failures.push(error),
    onWorkerExit: (exit, error) => void exits.push([exit, error]),
    emit: (name, detail) => {
      const { workerId, threads, error } = detail as Record<string, unknown>;
      if (name === "threadAbandoned") events.push(`${workerId} is abandoned`);
      if (name === "unavailable") events.push(`${(error as Error).message}, ${threads} left`);
      return false;
    },
  };
  return { events, exits, failures, listeners };
}

/** A pool that has not been started. `stopsThreads`: as `HostRuntime.stopsThreads`; `spawnOnHost`: as in LaneOptions. */
export function createSupervisor(
  size: Partial<PoolSize> = {},
  stopsThreads = true,
  spawnOnHost?: LaneOptions["spawnOnHost"],
) {
  const { pass, runtime, timers } = createClock();
  const threads: FakeThread[] = [];
  const dispatcher = createDispatcher();
  const { listeners, ...reports } = createEvents();
  /** Whether a thread with this id can be created. */
  const state = { canSpawn: (_id: number): boolean => true };
  const options = {
    runtime: { ...runtime, stopsThreads },
    codec: createCodec(0),
    spawn: (id: number) => {
      if (!state.canSpawn(id)) throw new WorkerStartError(`no thread ${id}`);
      const thread = new FakeThread();
      threads.push(thread);
      return thread;
    },
    spawnOnHost,
    ringSizes: { requests: 1024, responses: 1024 },
    start: { active: [AwakeCount.create()] } as unknown as LaneOptions["start"],
    startTimeoutMs: Infinity,
    teardownTimeoutMs: Infinity,
  };
  const limits = { idleTimeoutMs: Infinity, maxAbandonedThreads: 0 };
  const { minThreads = 1, maxThreads = minThreads } = size;
  const supervisor = new Supervisor(
    { ...limits, ...size, minThreads, maxThreads },
    options,
    dispatcher as unknown as Dispatcher,
    new AwakeCount([AwakeCount.create()], 4),
    listeners,
  );
  return {
    ...reports,
    dispatcher,
    pass,
    state,
    supervisor,
    threads,
    timers,
    /** The delay of the newest timer. */
    delayMs: (): number => [...timers].at(-1)!.delayMs,
    /** Ends the newest worker, which answers a call before if `hasResponded`, and lets its replacement start. */
    replaceLast: (hasResponded = false): void => {
      const thread = threads.at(-1)!;
      if (hasResponded) {
        thread.respond(dispatcher.lanes.all.at(-1)!.endpoint);
        dispatcher.responses.taken++;
      }
      thread.exit();
      pass(500);
    },
  };
}
