/** `pool.stats()` and `pool.workers`. */
import { histogramsOf } from "../call-metrics.ts";
import type { HistogramReading, LogHistogram } from "../log-histogram.ts";
import { PER_US } from "../../../../metering/task-timings.ts";
import { readGauges } from "./read-gauges.ts";
import type { Transport } from "../../../workers/mirror/host/transport.ts";
import type { PoolSpec } from "../../../../api/tasks/pool-spec.ts";
import type { Part, PoolParts } from "../../../../api/pool/parts.ts";
import { createStamps } from "./parts.ts";
import * as deferred from "../../../workers/scaling/host/deferred.ts";
import type { PoolBudget } from "../../../workers/scaling/host/pool-budget.ts";

/** Times of calls in milliseconds, at most 3.2 % off (`max` and `mean` are exact), of the calls that were measured. */
export interface TimeStatistics {
  /** The median. */
  readonly p50: number;
  /** The 90th percentile. */
  readonly p90: number;
  /** The 99th percentile. */
  readonly p99: number;
  /** The 99.9th percentile. */
  readonly p999: number;
  /** The longest time. Exact. */
  readonly max: number;
  /** The mean time. Exact. */
  readonly mean: number;
  /** Calls that these times stand for. */
  readonly count: number;
  /**
   * The calls by their time, in ascending order: pairs of a time, at most 3.2 % off, and a number of calls. They only grow, so
   * differences of two readings are the calls between them.
   */
  readonly histogram: readonly (readonly [ms: number, calls: number])[];
}

/** A task of a pool since the pool was created. */
export interface TaskStatistics {
  /** Name of the task in the pool. */
  readonly name: string;
  /** Settled calls. A chunk of `pool.map` counts as one. Exact. */
  readonly calls: number;
  /** Settled calls that rejected for any reason. Exact. */
  readonly failures: number;
  /**
   * Time from the call until its task begins. Only with `metrics: true`, and for tasks that were measured: of tasks that
   * keep their worker below 5 µs one call in 64, below 100 µs one in 4, of others each. As workers last reported it.
   */
  readonly wait: TimeStatistics | undefined;
  /** Time from the start of a task to its end, awaits included. Measured for the same calls as `wait`. */
  readonly run: TimeStatistics | undefined;
}

/** A worker of a pool. */
export interface WorkerStatistics {
  /** Number of the worker within its pool; replacements get new numbers. */
  readonly id: number;
  /** Name of its thread. */
  readonly name: string;
  /** `draining`: it finishes its calls and gets no others. `busy`: it has calls. */
  readonly state: "starting" | "idle" | "busy" | "draining" | "closing";
  /** Calls sent to it since it started. Exact; includes calls that were moved to another worker later. */
  readonly calls: number;
  /** Calls sent to it and not answered. Exact. */
  readonly running: number;
  /**
   * Share of the time, from 0 to 1, in which its thread had a call or looked for one, without its sleep: in the last one
   * to two seconds, and since it was ready. An async call counts until it ends. As the worker last reported it: a sleep
   * of less than a millisecond may be missing.
   */
  readonly utilization: { readonly recent: number; readonly total: number };
  /**
   * Bytes of its heap and buffers, garbage included (on Bun counted late without `maxWorkerBytes`). Only with `metrics` or
   * `maxWorkerBytes`, after its first calls; measured every 5 ms while it works, so it may be old if the worker is idle.
   */
  readonly memoryBytes: number | undefined;
}

/** A snapshot of the counters of a pool. All count calls since the pool was created, and are exact, if not said otherwise. */
export interface PoolStatistics {
  /** Calls that resolved. */
  readonly completed: number;
  /** Calls that rejected for any reason: refused ones, and timed out and aborted ones that rejected, are among them. */
  readonly failed: number;
  /** Calls rejected with QueueFullError (option `maxQueue`). */
  readonly refused: number;
  /** Calls made again because their worker was lost: repetitions, not calls. */
  readonly retried: number;
  /** Calls not settled yet. */
  readonly inFlight: number;
  /** Of `inFlight`, calls on the host: they wait for a worker, for promises among their arguments, or for the first worker. */
  readonly queued: number;
  /** Of `inFlight`, calls that workers, or the host's inliner, have: they run, or wait behind others in a worker. */
  readonly running: number;
  /** Workers ready for calls. */
  readonly ready: number;
  /** Workers started, replacements included. */
  readonly workersStarted: number;
  /** Workers that ended unexpectedly. */
  readonly workersLost: number;
  /** How calls reach the workers: through shared memory, or by messages (option `transport`). */
  readonly transport: Transport;
  /** Whether the tasks run on the host, since no thread can start (option `onUnavailable`). */
  readonly isOnHost: boolean;
  /**
   * The threads of all pools that share this pool's budget (option `budget`), and the maximum that limits those of
   * `threads: "auto"` or with a budget of their own.
   */
  readonly budget: { readonly threads: number; readonly max: number };
  /** Threads of stopped workers that keep running because they loop or block (Deno). */
  readonly abandonedThreads: number;
  /** Workers replaced (options `recycleAfter` and `maxWorkerBytes`). */
  readonly recycled: number;
  /** Calls run by the host itself (option `inliner`). */
  readonly inlined: number;
  /** Calls revoked from a busy worker and given to an idle one. */
  readonly moved: number;
  /** How many times the host parked with calls outstanding. */
  readonly parks: number;
  /** Wake messages that the host got. */
  readonly wakeMessages: number;
  /** Lost wake-ups found by the safety check. Other values than 0 mean a bug. */
  readonly safetyHits: number;
  /** Wakes that took longer than the interval of the safety check: a slow message, or a thread that was preempted. */
  readonly lateWakes: number;
  /** Responses to calls that had settled before. */
  readonly lateResponses: number;
  /** Calls in flight whose result is a stream that has begun. */
  readonly openStreams: number;
  /** Items of result streams received so far. */
  readonly streamItems: number;
  /** Calls whose time limit expired. */
  readonly timedOut: number;
  /** Calls aborted by a signal or by `reject()`. */
  readonly aborted: number;
  /** The workers that have not ended. */
  readonly workers: readonly WorkerStatistics[];
  /** The tasks; of a module pool from when a worker has described them. */
  readonly tasks: readonly TaskStatistics[];
}

/** Reads all counters. */
export function readStatistics(host: PoolParts): PoolStatistics {
  const { spec, dispatcher, supervisor, loop, safety } = host;
  const { inFlight, waiting, lanes, responses, moved, backpressure } = dispatcher;
  const { sentCalls } = inFlight;
  const statistics = {
    ...inFlight.counts.total,
    refused: backpressure.refused,
    retried: waiting.retried,
    inFlight: inFlight.size,
    queued: inFlight.size - sentCalls,
    running: sentCalls,
    ready: lanes.open.length,
    workersStarted: supervisor.started,
    workersLost: supervisor.lost,
    transport: spec.options.transport,
    isOnHost: supervisor.isOnHost,
    budget: budgetOf(spec),
    abandonedThreads: supervisor.abandonedThreads,
    recycled: supervisor.recycled,
    inlined: waiting.inliner?.ran ?? 0,
    moved,
    parks: loop.statistics.parks,
    wakeMessages: loop.statistics.wakeMessages,
    safetyHits: safety.statistics.hits,
    lateWakes: safety.statistics.lateWakes,
    lateResponses: responses.late,
    openStreams: inFlight.openStreams,
    streamItems: 0,
    timedOut: 0,
    aborted: host.abortedEarly,
    workers: readWorkers(host),
    tasks: readTasks(host),
  };
  addCounters(statistics, host.parts.values());
  return statistics;
}

/** Adds what parts of features have counted. */
function addCounters(to: object, parts: Iterable<Part>): void {
  const counters = to as Record<string, number>;
  for (const part of parts) {
    for (const [name, count] of Object.entries(part.counters?.() ?? {})) {
      counters[name] = (counters[name] ?? 0) + count;
    }
  }
}

function budgetOf({ options, runtime }: PoolSpec): PoolStatistics["budget"] {
  const { threads, max } = (options.budget as PoolBudget | undefined) ??
    deferred.PoolBudget.ofThread(runtime.cores);
  return { threads, max };
}

function readWorkers(
  { spec: { options, runtime }, supervisor, readyMs }: PoolParts,
): WorkerStatistics[] {
  const nowMs = runtime.coarseNow();
  return [...supervisor.threads].map((lane) => {
    const { id, load, phase, mirror } = lane;
    const { buffer } = lane.endpoint.rx.memory.i32;
    const fromMs = readyMs.get(id) ?? nowMs;
    const idleFromMs = load.outstanding > 0 ? undefined : mirror && (mirror.heardMs ?? fromMs);
    const gauges = readGauges(buffer, fromMs, nowMs, idleFromMs);
    return {
      id,
      name: `${options.workerOptions.name}-${id}`,
      state: phase === "starting" || phase === "preparing"
        ? "starting"
        : phase === "closing" || phase === "gone"
        ? "closing"
        : phase === "draining"
        ? "draining"
        : load.outstanding > 0
        ? "busy"
        : "idle",
      calls: load.sent,
      running: load.outstanding,
      utilization: { recent: gauges.recent, total: gauges.total },
      memoryBytes: gauges.memoryBytes,
    };
  });
}

function readTasks(host: PoolParts): TaskStatistics[] {
  const { spec: { sources }, dispatcher } = host;
  const stamps = host.existing(createStamps);
  const { counts } = dispatcher.inFlight;
  return sources.map(({ name }, task) => {
    const { completed, failed } = counts.of(task, sources.length);
    const times = stamps && histogramsOf(stamps.buffer, task);
    return {
      name,
      calls: completed + failed,
      failures: failed,
      wait: times && inMs(times.wait),
      run: times && inMs(times.run),
    };
  });
}

function inMs(histogram: LogHistogram): HistogramReading | undefined {
  return histogram.read(1000 * PER_US);
}
