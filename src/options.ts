/** Options of `createPool`: defaults, limits, and checks that name what is wrong. */
import { textOf } from "./codec/fault.ts";
import { InvalidArgumentError } from "./errors.ts";
import { MAX_CAPACITY } from "./ring/ring-layout.ts";
import { checkCapacity } from "./ring/spsc-ring.ts";

/** Options of `createPool`. All are optional. */
export interface PoolOptions {
  /** Number of workers, at least 1. Default: the cores this process may use less one, at least 1. */
  readonly threads?: number;
  /**
   * Bytes of each worker's request ring and of its response ring, a power of two. Default 4 MiB.
   * Memory is used only as far as traffic needs it. Values larger than a quarter of it travel beside
   * the ring, which is slower.
   */
  readonly ringBytes?: number;
  /**
   * Most bytes that the arguments of one call, or its result, may take when encoded (about their size
   * in memory; strings one or two bytes a character). What is larger rejects its call with
   * PayloadTooLargeError. Default: no limit but memory.
   */
  readonly maxPayloadBytes?: number;
  /** Async tasks in flight at once in one worker before it takes no more. Default 1024. */
  readonly maxConcurrency?: number;
  /**
   * Longest spin of the host for an answer and of a worker for a call before it sleeps, in microseconds,
   * 0 to 1000. Both spin only while a core is free, and only while what they wait for is near. Default
   * 50; 0: never spin. Where waking a thread is quick (bare metal), 20 saves some CPU.
   */
  readonly spinMicroseconds?: number;
  /** Keep the process running while the pool is open, even when it is idle. Default false. */
  readonly keepAlive?: boolean;
  /**
   * URL or path of the module that exports the bare functions in the pool. Default: the module that
   * calls `createPool`, as the stack tells. Bundled code may have to say.
   */
  readonly moduleUrl?: string | URL;
}

export interface ResolvedOptions {
  readonly threads: number;
  readonly ringBytes: number;
  readonly maxPayloadBytes: number;
  readonly maxConcurrency: number;
  readonly spinMicroseconds: number;
  readonly keepAlive: boolean;
  readonly moduleUrl: string | undefined;
}

/** The first claim of an endpoint must always fit beside a record of maximal size. */
const MIN_RING_BYTES = 1024;
const DEFAULT_RING_BYTES = 4 * 1024 * 1024;
const DEFAULT_MAX_CONCURRENCY = 1024;
/** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
const DEFAULT_SPIN_MICROSECONDS = 50;
/** A pool larger than this is a mistake. */
const MAX_THREADS = 1024;
const KNOWN: readonly (keyof PoolOptions)[] = [
  "threads",
  "ringBytes",
  "maxPayloadBytes",
  "maxConcurrency",
  "spinMicroseconds",
  "keepAlive",
  "moduleUrl",
];

/** Checks `options` and fills in the defaults. Throws InvalidArgumentError. */
export function resolveOptions(options: PoolOptions, cores: number): ResolvedOptions {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  for (const key of Object.keys(options)) {
    if (!(KNOWN as readonly string[]).includes(key)) {
      throw new InvalidArgumentError(
        `createPool() has no option "${key}"; it takes: ${KNOWN.join(", ")}.`,
      );
    }
  }
  const own = (key: keyof PoolOptions): unknown =>
    Object.hasOwn(options, key) ? options[key] : undefined;
  const ringBytes = checkInteger(
    "ringBytes",
    own("ringBytes") ?? DEFAULT_RING_BYTES,
    MIN_RING_BYTES,
    MAX_CAPACITY,
  );
  checkCapacity(ringBytes, "ringBytes");
  const maxPayloadBytes = own("maxPayloadBytes") ?? Infinity;
  if (typeof maxPayloadBytes !== "number" || !(maxPayloadBytes >= 1)) {
    throw new InvalidArgumentError(
      `maxPayloadBytes must be a number from 1, got ${show(maxPayloadBytes)}.`,
    );
  }
  const keepAlive = own("keepAlive") ?? false;
  if (typeof keepAlive !== "boolean") {
    throw new InvalidArgumentError(`keepAlive must be a boolean, got ${show(keepAlive)}.`);
  }
  const moduleUrl = own("moduleUrl");
  if (moduleUrl !== undefined && typeof moduleUrl !== "string" && !(moduleUrl instanceof URL)) {
    throw new InvalidArgumentError(`moduleUrl must be a string or URL, got ${show(moduleUrl)}.`);
  }
  return {
    threads: checkInteger("threads", own("threads") ?? Math.max(1, cores - 1), 1, MAX_THREADS),
    ringBytes,
    maxPayloadBytes,
    maxConcurrency: checkInteger(
      "maxConcurrency",
      own("maxConcurrency") ?? DEFAULT_MAX_CONCURRENCY,
      1,
      2 ** 20,
    ),
    spinMicroseconds: checkInteger(
      "spinMicroseconds",
      own("spinMicroseconds") ?? DEFAULT_SPIN_MICROSECONDS,
      0,
      1000,
    ),
    keepAlive,
    moduleUrl: moduleUrl === undefined ? undefined : String(moduleUrl),
  };
}

function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw new InvalidArgumentError(
      `${name} must be an integer from ${min} to ${max}, got ${show(value)}.`,
    );
  }
  return value;
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : textOf(value);
}
