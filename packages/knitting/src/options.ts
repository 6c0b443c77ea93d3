/** Knitting's options of a pool in heddle's form. */
import { type CallPlace, InvalidArgumentError, type PoolOptions } from "heddle";
import type { BootstrapData } from "./worker.ts";
import { permissionOf } from "./permission.ts";
import { runtimeName, urlOf } from "./place.ts";
import type { CreatePool, WorkerBootstrap, WorkerSettings } from "./types.ts";
import { UnsupportedError } from "./unsupported.ts";

const DEFAULT_ABORT_CAPACITY = 258;
const MAX_SPIN_US = 1000;

/** The setup module of workers. */
const WORKER = new URL("./worker.js", import.meta.url);

type Options = { -readonly [Key in keyof PoolOptions]: PoolOptions[Key] };

/** Options of heddle, except `mapError`. `hasToolkit`: a task gets an abort toolkit. */
export function heddleOptions(
  given: CreatePool,
  place: CallPlace | undefined,
  hasToolkit: boolean,
): PoolOptions {
  const worker = given.worker ?? {};
  refuseProcesses(worker);
  const { threads = 1, inliner, payload, workerExecArgv } = given;
  const options: Options = { threads };
  if (place !== undefined) options.moduleUrl = place.module;
  if (inliner !== undefined && inliner !== null) options.inliner = inliner;
  const balancer = balancerOf(given);
  if (balancer !== undefined) options.balancer = balancer;
  const { maxPayloadBytes } = payload ?? {};
  if (maxPayloadBytes !== undefined && maxPayloadBytes > 0) {
    options.maxPayloadBytes = maxPayloadBytes;
  }
  const { bootstrap, hardTimeoutMs, timers: { spinMicroseconds } = {} } = worker;
  if (spinMicroseconds !== undefined) {
    options.spinMs = Math.min(Math.max(0, spinMicroseconds), MAX_SPIN_US) / 1000;
  }
  if (hardTimeoutMs !== undefined && hardTimeoutMs > 0) options.hardTimeoutMs = hardTimeoutMs;
  const permission = permissionOf(given.permission);
  if (permission !== undefined) options.permission = permission;
  options.worker = {
    ...((hasToolkit || bootstrap !== undefined) && { setup: WORKER }),
    ...(bootstrap !== undefined && { data: bootstrapOf(bootstrap, threads, inliner, place) }),
    ...(workerExecArgv !== undefined && runtimeName() === "node" && { execArgv: workerExecArgv }),
  };
  return options;
}

function balancerOf({ balancer, host }: CreatePool): PoolOptions["balancer"] {
  const strategy = typeof balancer === "object" && balancer !== null
    ? balancer.strategy ?? "roundRobin"
    : balancer;
  // Without stealing, Knitting sends calls to the workers in turn.
  const name = strategy ?? (host?.steal === false ? "roundRobin" : undefined);
  return name === "robinRound" ? "roundRobin" : name;
}

function bootstrapOf(
  bootstrap: WorkerBootstrap,
  threads: number,
  inliner: CreatePool["inliner"],
  place: CallPlace | undefined,
): BootstrapData {
  const { href, name = "default", data } = bootstrap;
  if (typeof href !== "string" || href === "" || typeof name !== "string") {
    throw new InvalidArgumentError("worker.bootstrap needs `href` (string), and takes `name`.");
  }
  if (inliner !== undefined && inliner !== null) {
    throw new InvalidArgumentError(
      "worker.bootstrap cannot be used with the inliner: the host thread would not be bootstrapped.",
    );
  }
  return { href: urlOf(href, place), name, data, threads };
}

function refuseProcesses({ runtime, processRuntime, compiled }: WorkerSettings): void {
  if (runtime === "compiled" || processRuntime === "porffor" || compiled !== undefined) {
    throw new UnsupportedError(
      "@heddle/knitting has no compiled workers; leave out worker.runtime and worker.compiled to run the " +
        "tasks in threads.",
    );
  }
  if (runtime === "process") {
    throw new UnsupportedError(
      "@heddle/knitting has no process workers; leave out worker.runtime. To isolate tasks, run the program in a " +
        "process or container with the rights that it needs.",
    );
  }
}

/** The maximum number of abort-aware calls in flight. */
export function abortCapacityOf({ abortSignalCapacity: given }: CreatePool): number {
  return given !== undefined && given >= 1 ? Math.floor(given) : DEFAULT_ABORT_CAPACITY;
}

const IGNORED: readonly string[] = [
  ..."mode payloadInitialBytes payloadMaxByteLength".split(" ").map((key) => `payload.${key}`),
  ..."stallFreeLoops maxBackoffMs dispatcher stealRegionLanes".split(" ").map((key) =>
    `host.${key}`
  ),
  ..."parkMs pauseNanoseconds".split(" ").map((key) => `worker.timers.${key}`),
  "worker.processRuntime",
  "worker.processCommandPrefix",
  "worker.processSharedMemory",
  "unsafe.BufferReferenceReturn",
  "source",
];

/** Names of given options that have no effect. */
export function ignoredOptions(given: CreatePool): string[] {
  const valueOf = (path: string): unknown =>
    path.split(".").reduce<unknown>((value, key) => Object(value)[key], given);
  const ignored = runtimeName() === "node" ? IGNORED : [...IGNORED, "workerExecArgv"];
  return ignored.filter((path) => valueOf(path) !== undefined);
}
