/**
 * heddle calls functions in worker threads of Node, Deno and Bun through shared memory, as if they
 * were local async functions.
 *
 * **Overview.** {@link createPool} starts workers for a set of tasks and returns `pool.call`. Tasks
 * are functions exported from a module (see {@link task} and {@link importTask}). Each worker shares two
 * ring buffers with the host; arguments and results are encoded straight into them.
 *
 * **Backpressure.** A call never blocks the host, and is never refused unless `maxQueue` is set. Calls that no
 * worker can take yet wait on the host, with their arguments already encoded. `pool.needsDrain` tells
 * producers when to pause.
 *
 * **Shutdown.** `pool.shutdown()`, `using` and `await using`. An idle pool does not keep the process
 * running; calls in flight do.
 *
 * **Allocation.** Calls with numbers, booleans, short strings, `null` and `undefined` allocate only
 * the promise. Arguments are copied when the call is made: later changes are not seen.
 *
 * @module
 */
export { ResultStream } from "./features/calls/streams/host/result-stream.ts";
export type { Items, MapOptions, MapProgress } from "./features/calls/map/host/map.ts";
export { MappedResults } from "./features/calls/map/host/mapped-results.ts";
export type { SettledItem } from "./features/calls/map/host/map-types.ts";
export { createPool } from "./features/create-pool.ts";
export { isMain } from "./features/is-main.ts";
export type { Pool } from "./api/pool/pool-types.ts";
export type { PoolEvents } from "./features/watching/observe/host/pool-events.ts";
export type {
  CpuProfile,
  CpuProfileNode,
  ProfileOptions,
} from "./features/watching/profile/host/profile.ts";
export type { WorkerUsage } from "./features/watching/observe/host/worker-usage.ts";
export type {
  PoolStatistics,
  TaskStatistics,
  TimeStatistics,
  WorkerStatistics,
} from "./features/watching/observe/host/pool-statistics.ts";
export type {
  ContextOptions,
  OutputOption,
  OutputSource,
} from "./features/watching/observe/host/observe-options.ts";
export type { DebugTopic } from "./features/watching/observe/host/debug-log.ts";
export * from "./mod-task.ts";
export type {
  BalancerFunction,
  BalancerName,
  WorkerLoad,
} from "./features/workers/balancers/balancers.ts";
export {
  type ThreadBudget,
  threadBudget,
  type ThreadBudgetOptions,
} from "./features/workers/scaling/host/thread-budget.ts";
export type {
  PermissionMode,
  PoolOptions,
  ShutdownOptions,
  WorkerOptions,
} from "./api/options/pool-options.ts";
export {
  shutdownOnSignals,
  type ShutsDown,
  type SignalName,
  type SignalOptions,
} from "./api/pool/shutdown-on-signals.ts";
export {
  type CallKey,
  dedupe,
  type Deduped,
  type DedupeOptions,
  type ResultCache,
} from "./api/calls/dedupe.ts";
export { callback } from "./features/calls/requests/callback-of-host.ts";
export { type Listener, listener } from "./features/calls/requests/listener-of-host.ts";
export type { HostOptions } from "./features/calls/requests/host/host-options.ts";
export type { InlinerLimits } from "./features/workers/inline/host/inline-executor.ts";
export type { ProcessPoolOptions } from "./features/workers/processes/host/process-options.ts";
export type { RingSizes } from "./lane/layout.ts";
export type { PermissionOptions, ResourceLimits } from "./runtimes/runtime.ts";
export type {
  BroadcastCall,
  BroadcastCalls,
  Call,
  Calls,
  CallWithFallback,
  SyncCall,
  SyncCalls,
  SyncCallWithFallback,
} from "./api/calls/call-types.ts";
export { type ImportOptions, importTask } from "./features/task.ts";
export type { ImportedTask, TaskMap } from "./api/tasks/task-types.ts";
export {
  type AnyHeddleError,
  BorrowExpiredError,
  CallbackEndedError,
  CallEndedError,
  DataCloneError,
  DeadlockError,
  HeddleError,
  type HeddleErrorCode,
  InvalidArgumentError,
  isHeddleError,
  NestedPoolError,
  ObjectLostError,
  PayloadTooLargeError,
  PoolClosedError,
  ProfileUnavailableError,
  ProtocolError,
  QueueFullError,
  ScopeCancelledError,
  ScopeClosedError,
  StreamClosedError,
  StructError,
  TaskNotFoundError,
  TimeoutError,
  UnknownFunctionError,
  UnknownTaskError,
  ValidationError,
  type ValidationIssue,
  type WorkerLoss,
  WorkerLostError,
  WorkerStartError,
} from "./errors.ts";
export { InstallationError } from "./installation-error.ts";
export type { BroadcastOptions, CallOptions } from "./api/options/call-option-types.ts";
export type { ScopeOptions } from "./features/calls/scopes/scope-options.ts";
export type {
  OfHandle,
  Remote,
  RestartOptions,
  Spawn,
  SpawnClasses,
  Spawned,
  SpawnOptions,
} from "./features/calls/objects/object-types.ts";
export type {
  Joinable,
  Joined,
  OpenScope,
  PoolScope,
} from "./features/calls/scopes/scope-types.ts";
