/**
 * The same typed calls to tasks on other machines, over NATS: {@link serve} on each machine that runs tasks,
 * {@link connectPool} on those that call them. Needs a NATS server and the package `@nats-io/transport-node`;
 * `@nats-io/services` for discovery, `@nats-io/jetstream` and `@nats-io/kv` for durable work.
 *
 * @module
 */
export { type ConnectModule, connectPool, type RemotePool } from "./nats/caller/connect-pool.ts";
export type { EnqueueCalls, EnqueueOptions, ResultOptions } from "./nats/durable/durable-calls.ts";
export type {
  MachineStatistics,
  RemotePoolStatistics,
  ServerStatistics,
} from "./nats/statistics.ts";
export type {
  ConnectOptions,
  DurableOptions,
  NatsClientOptions,
  NatsOptions,
  ServeOptions,
} from "./nats/options.ts";
export { serve, type ServeModule, type Server } from "./nats/machine/serve.ts";
export { NoMachinesError } from "./errors.ts";
