/** The options of a pool with their values, and what checks them. Types only. */
import type { BalancerFunction, BalancerName } from "../../features/workers/balancers/balancers.ts";
import type { InlinerLimits } from "../../features/workers/inline/host/inline-executor.ts";
import type { PoolBudget, ShareLimits } from "../../features/workers/scaling/host/pool-budget.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { HostRuntime, WorkerLimits } from "../../runtimes/runtime.ts";
import type { ResolvedObserving } from "../../features/watching/observe/host/observe-options.ts";
import type { PoolOptions } from "./pool-options.ts";
import type { Transport } from "../../features/workers/mirror/host/transport.ts";
import type { ResolvedWorkerOptions } from "./worker-options.ts";

/** Options that are merged into others. */
type Merged = "threads" | "worker" | "resourceLimits" | "permission" | "host" | "maxWorkerBytes";

interface ResolvedParts extends ResolvedObserving {
  readonly ringBytes: RingSizes;
  readonly balancer: BalancerName | BalancerFunction;
  readonly inliner: InlinerLimits | undefined;
  readonly maxQueue: number;
  readonly workerLimits: WorkerLimits;
  readonly workerOptions: ResolvedWorkerOptions;
  readonly moduleUrl: string | undefined;
  readonly mapError: PoolOptions["mapError"];
  /** By name; those of a module beside its other exports. Undefined: workers may ask for none. */
  readonly hostFunctions: Readonly<Record<string, unknown>> | undefined;
  readonly transport: Transport;
  /** Start data of features that their options ask for, by their names. */
  readonly startData: Readonly<Record<string, unknown>>;
}

export interface ResolvedThreads {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly budget: PoolBudget | undefined;
  /** What the pool may have of the budget. */
  readonly share: ShareLimits;
}

/** Every option with its value. Infinity: no limit, or never. */
export type ResolvedOptions =
  & Required<Omit<PoolOptions, Merged | keyof ResolvedParts | keyof ResolvedThreads>>
  & ResolvedParts
  & ResolvedThreads;

/** What the checks have to know of the runtime. */
export type OptionsRuntime =
  & Pick<HostRuntime, "cores" | "refuseLimits" | "takesExecArgv">
  & Partial<Pick<HostRuntime, "env" | "measuresMemory" | "sharesMemory">>;

/** The options that are given: own and not undefined. Each is read once. */
export type Given = { readonly [Key in keyof PoolOptions]?: unknown };

/** The same options, while they are being resolved. */
export type Resolving = { -readonly [Key in keyof ResolvedOptions]: ResolvedOptions[Key] };

/** Checks an option that is given, and sets what it stands for. Throws InvalidArgumentError. */
export type Check = (
  value: unknown,
  to: Resolving,
  given: Given,
  runtime: OptionsRuntime,
) => void;
