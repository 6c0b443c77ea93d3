/** The options of a pool with their values, and what checks them. Types only. */
import type { BalancerFunction, BalancerName } from "../../features/workers/balancers/balancers.ts";
import type { DebugTopic } from "../../features/watching/observe/host/debug-log.ts";
import type { InlinerLimits } from "../../features/workers/inline/host/inline-executor.ts";
import type { Transport } from "../../features/workers/mirror/host/transport.ts";
import type { CallEntry } from "../../host/dispatch/call-entry.ts";
import type { GivenSettings } from "../../host/calls/call-settings.ts";
import type { Inliner } from "../../host/dispatch/queue/waiting-calls.ts";
import type { InFlightWindow } from "../../host/lanes/in-flight-window.ts";
import type { LaneChooser } from "../../host/schedule/placement.ts";
import type { ShareLimits } from "../../host/workers/feature.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { HostRuntime, ThreadOptions, WorkerLimits } from "../../runtimes/runtime.ts";
import type { PoolOptions } from "./pool-options.ts";

/** Options that are merged into others. */
type Merged =
  | "threads"
  | "worker"
  | "resourceLimits"
  | "permission"
  | "host"
  | "maxWorkerBytes"
  | "context";

/** The option `worker` with its defaults. */
export interface ResolvedWorkerOptions {
  readonly data: unknown;
  readonly name: string;
  readonly thread: ThreadOptions;
}

interface ResolvedParts {
  readonly budget: object | undefined;
  /** What the pool may have of the budget. */
  readonly share: ShareLimits;
  /** Bytes. */
  readonly minFreeMemory: number | undefined;
  readonly ringBytes: RingSizes;
  readonly balancer: BalancerName | BalancerFunction;
  readonly inliner: InlinerLimits | undefined;
  readonly maxQueue: number;
  readonly workerLimits: WorkerLimits;
  readonly workerOptions: ResolvedWorkerOptions;
  readonly moduleUrl: string | undefined;
  /** Undefined: none. */
  readonly debug: readonly DebugTopic[] | undefined;
  readonly mapError: PoolOptions["mapError"];
  /** By name; those of a module beside its other exports. Undefined: workers may ask for none. */
  readonly hostFunctions: Readonly<Record<string, unknown>> | undefined;
  readonly transport: Transport;
}

/** Where calls are made. */
export type CallSink = Pick<CallEntry, "submit" | "submitPlain"> & {
  /** The option `mapError`, for reasons that arrive as values. */
  readonly mapError?: (reason: unknown) => unknown;
};

/** What options of features ask of the kernel. */
interface Asked {
  /** Start data of features, by their names. */
  readonly startData: Readonly<Record<string, unknown>>;
  /** What workers import beside the modules of tasks, by name. May be relative to the module that calls `createPool`. */
  readonly modules: Readonly<Record<string, string>>;
  /** Settings of calls that do not have them; and those that all have. */
  readonly settings?: GivenSettings;
  readonly fixedSettings?: GivenSettings;
  /** What each call carries to its worker, as its last argument. */
  readonly capture?: () => unknown;
  /** Chooses lanes. Undefined: the kernel does. */
  readonly createChooser?: (depth: InFlightWindow) => LaneChooser;
  /** Why values have to stand alone (`EncoderOptions.copiesOnly`). */
  readonly copiesOnly?: string;
  /** Starts workers that are no threads. */
  readonly spawnWorker?: HostRuntime["spawnWorker"];
  /** Runs calls on the host. `host`: the parts of the pool (`PoolParts`), as below. */
  readonly createInliner?: (host: never) => Inliner;
  /** Runs before the parts of the pool are made. */
  readonly prepare?: Readonly<Record<string, (host: never) => void>>;
  /** Calls are made through what this makes of where they are made. */
  readonly wrapEntry?: (entry: CallSink) => CallSink;
  /** Whether the tasks run on the host, and no thread starts. */
  readonly isOnHost?: boolean;
  /** Whether calls are followed, even without a subscriber. */
  readonly isFollowed?: boolean;
}

/** Every option with its value; undefined: nobody has added the option. Infinity: no limit, or never. */
export type ResolvedOptions =
  & Required<Omit<PoolOptions, Merged | keyof ResolvedParts>>
  & ResolvedParts
  & Asked;

/** What the checks have to know of the runtime. */
export type OptionsRuntime =
  & Pick<HostRuntime, "cores" | "refuseLimits" | "takesExecArgv">
  & Partial<
    Pick<
      HostRuntime,
      | "env"
      | "warn"
      | "measuresMemory"
      | "systemMemory"
      | "takesOutput"
      | "sharesMemory"
      | "loadProcesses"
      | "importCondition"
      | "withCompileCache"
    >
  >;

/** The options that are given. Each is read once. */
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
