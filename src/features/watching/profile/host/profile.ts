/** `pool.profile`: the CPU profile of a worker. The worker takes it (`runtimes/node-api/profiler.ts`). */
import { JSON, MessageChannel, Promise } from "../../../../builtins.ts";
import {
  InvalidArgumentError,
  PoolClosedError,
  ProfileUnavailableError,
} from "../../../../errors.ts";
import type { ThreadLane } from "../../../../host/workers/thread-lane.ts";
import type { ProfileResponse } from "../messages.ts";
import { MAX_TIMER_MS } from "../../../../runtimes/runtime.ts";
import { checkKeys, invalid, isRecord, ownOf, show } from "../../../../option-checks.ts";
import type { PoolEvents } from "../../observe/host/pool-events.ts";

/** Options of {@link Pool.profile}. */
export interface ProfileOptions {
  /**
   * How long the worker is sampled, in milliseconds. Longer if a task runs synchronously at the end.
   *
   * @default 1000
   */
  readonly durationMs?: number;
}

/** A CPU profile as `.cpuprofile` files have it, for DevTools, VS Code or speedscope: `JSON.stringify(profile)`. */
export interface CpuProfile {
  /** The functions that were sampled. */
  readonly nodes: readonly CpuProfileNode[];
  /** When it began, in microseconds of a clock of the thread's own. */
  readonly startTime: number;
  /** When it ended, by the same clock. */
  readonly endTime: number;
  /** The id of a node for each sample. */
  readonly samples?: readonly number[];
  /** The time since the sample before it for each sample, in microseconds. */
  readonly timeDeltas?: readonly number[];
}

/** A function in a {@link CpuProfile}, by the functions that called it. */
export interface CpuProfileNode {
  /** Its number in the profile. */
  readonly id: number;
  /** The function and its place; line and column count from 0. */
  readonly callFrame: {
    readonly functionName: string;
    readonly scriptId: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  /** Samples in the function itself. */
  readonly hitCount?: number;
  /** Ids of nodes. */
  readonly children?: readonly number[];
}

/** What a pool tells of itself. */
export interface ProfiledPool {
  readonly threads: () => Iterable<ThreadLane>;
  readonly isClosing: () => boolean;
  readonly events: EventTarget;
}

const DURATION_MS = 1000;

export class Profiling {
  readonly #pool: ProfiledPool;
  /** Workers that are being profiled. */
  readonly #workerIds: number[] = [];

  constructor(pool: ProfiledPool) {
    this.#pool = pool;
  }

  async profile(workerId: unknown, options: unknown): Promise<CpuProfile> {
    const durationMs = checkOptions(options);
    if (this.#pool.isClosing()) throw new PoolClosedError();
    const lane = this.#find(workerId);
    const { id } = lane;
    if (this.#workerIds.includes(id)) {
      throw new ProfileUnavailableError(id, "it is being profiled already");
    }
    this.#workerIds.push(id);
    try {
      return await this.#request(lane, durationMs);
    } finally {
      this.#workerIds.splice(this.#workerIds.indexOf(id), 1);
    }
  }

  #find(workerId: unknown): ThreadLane {
    const lanes = [...this.#pool.threads()];
    const lane = lanes.find(({ id }) => id === workerId);
    if (lane !== undefined) return lane;
    const ids = lanes.map(({ id }) => id).join(", ") || "none";
    throw new InvalidArgumentError(
      `profile() takes the id of a worker that has not ended (${ids}), got ${show(workerId)}.`,
    );
  }

  /** The open port keeps the process running. */
  async #request(lane: ThreadLane, durationMs: number): Promise<CpuProfile> {
    const { events, isClosing } = this.#pool;
    const { port1: port, port2 } = new MessageChannel();
    const { promise, resolve, reject } = Promise.withResolvers<ProfileResponse>();
    const onExit = (event: Event): void => {
      const { workerId, reason } = (event as CustomEvent<PoolEvents["workerExit"]>).detail;
      if (workerId !== lane.id) return;
      reject(
        isClosing()
          ? new PoolClosedError(`The pool was closed while worker ${workerId} was profiled.`)
          : new ProfileUnavailableError(workerId, `it ended (${reason})`),
      );
    };
    events.addEventListener("workerExit", onExit);
    port.onmessage = ({ data }) => resolve(data as ProfileResponse);
    try {
      lane.postStream({ heddle: "profile", durationMs, port: port2 }, [port2]);
      const response = await promise;
      if ("profile" in response) return JSON.parse(response.profile) as CpuProfile;
      throw new ProfileUnavailableError(lane.id, response.reason.replace(/[\s.]+$/, ""));
    } finally {
      events.removeEventListener("workerExit", onExit);
      port.close();
    }
  }
}

function checkOptions(options: unknown): number {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(`profile() takes an object of options, got ${show(options)}.`);
  }
  checkKeys("profile()", options, ["durationMs"]);
  const { durationMs = DURATION_MS } = ownOf<ProfileOptions>(options);
  if (typeof durationMs === "number" && durationMs > 0 && durationMs <= MAX_TIMER_MS) {
    return durationMs;
  }
  const rule = `a number of milliseconds above 0, at most ${MAX_TIMER_MS}`;
  throw invalid("durationMs", rule, show(durationMs));
}
