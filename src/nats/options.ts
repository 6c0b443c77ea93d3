/** Options of `serve` and `connectPool`, their checks, and the names of subjects. */
import { Promise } from "../builtins.ts";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkMs,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../option-checks.ts";
import type { PoolOptions } from "../api/options/pool-options.ts";
import { InvalidArgumentError, NoMachinesError } from "../errors.ts";
import { ownVersion } from "./wire/frames.ts";
import { MAX_TIMER_MS, type Runtime, type Timer } from "../runtimes/runtime.ts";

/**
 * Options of the NATS client.
 *
 * @ignore
 */
export type NatsClientOptions = NodeConnectionOptions;

/** Options that callers and machines share. */
export interface NatsOptions {
  /**
   * Addresses of NATS servers, as `host:port`.
   *
   * @default "127.0.0.1:4222"
   */
  readonly servers?: string | readonly string[];
  /** The subject of the tasks: machines and callers with the same one belong together. Letters, digits, `-`, `_` and dots. */
  readonly subject: string;
  /**
   * Further options of the NATS client: `tls`, `token`, `user` and `pass`, `authenticator` etc.
   *
   * @default none
   */
  readonly connection?: NatsClientOptions;
  /**
   * Maximum bytes of one call's arguments, of one result and of one item. Those larger than the server's `max_payload`
   * are sent in chunks.
   *
   * @default 64 MiB
   */
  readonly maxPayloadBytes?: number;
  /**
   * The subject below which callers get their answers. Machines answer nowhere else. That of a caller may be longer, so that
   * its NATS user alone may read there: `_INBOX.heddle.alice` for machines with the default.
   *
   * @default "_INBOX.heddle"
   */
  readonly inboxPrefix?: string;
}

/** Options of `connectPool`. */
export interface ConnectOptions extends NatsOptions {
  /**
   * A machine is lost when it has not answered for this time, in milliseconds. Its calls reject with WorkerLostError.
   *
   * @default 3000
   */
  readonly lostAfterMs?: number;
  /**
   * Time for which a call waits while no machine serves the subject, and `enqueue` for a server that does not answer, in
   * milliseconds.
   *
   * @default 5000
   */
  readonly machineWaitMs?: number;
  /**
   * Settings of `enqueue`. They are those of the first machine or caller that needs them.
   *
   * @default none
   */
  readonly durable?: DurableOptions;
}

/** Options of `serve`. */
export interface ServeOptions extends NatsOptions {
  /**
   * Options of the local pool.
   *
   * @default none
   */
  readonly pool?: PoolOptions;
  /**
   * The name of this machine in errors and in services discovery.
   *
   * @default host name and process id
   */
  readonly name?: string;
  /**
   * Maximum calls at a time. Further ones go to other machines, or wait at their callers. Up to 1024 results that are
   * streams and wait for their readers do not count.
   *
   * @default 256
   */
  readonly maxInFlight?: number;
  /**
   * Whether NATS services discovery shows this machine. Needs the package `@nats-io/services`.
   *
   * @default true
   */
  readonly discovery?: boolean;
  /**
   * Whether SIGTERM drains this machine and ends the process.
   *
   * @default true
   */
  readonly terminates?: boolean;
  /**
   * Takes durable calls (`enqueue`) as well. Needs the packages `@nats-io/jetstream` and `@nats-io/kv`.
   *
   * @default false
   */
  readonly durable?: boolean | DurableOptions;
}

/** Settings of durable calls. */
export interface DurableOptions {
  /**
   * Time without a sign of life after which a durable call is given to another machine, in milliseconds. It is that of the
   * first machine or caller of the subject. Machines renew it three times as often while the task runs.
   *
   * @default 30,000
   */
  readonly ackWaitMs?: number;
  /**
   * Time for which results are kept, in milliseconds.
   *
   * @default one day
   */
  readonly resultMs?: number;
  /**
   * Copies of calls and results in a cluster, 1 to 5.
   *
   * @default 1
   */
  readonly replicas?: number;
  /**
   * Maximum durable calls that a machine has at a time. Raise it for tasks that wait most of the time.
   *
   * @default one for each thread of its pool
   */
  readonly maxInFlight?: number;
  /**
   * Time for which a call waits if the machines that get it do not have its task, in milliseconds: a new one may not have started
   * yet. Then it is a dead letter.
   *
   * @default 60,000
   */
  readonly taskWaitMs?: number;
}

export interface ResolvedDurable {
  readonly ackWaitMs: number;
  readonly resultMs: number;
  readonly replicas: number;
  /** Undefined: one for each thread. */
  readonly maxInFlight: number | undefined;
  readonly taskWaitMs: number;
}

export interface ResolvedCommon {
  readonly servers: string[];
  readonly subject: string;
  readonly connection: NodeConnectionOptions;
  readonly maxPayloadBytes: number;
  readonly inboxPrefix: string;
}

export interface ResolvedConnect extends ResolvedCommon {
  readonly lostAfterMs: number;
  readonly machineWaitMs: number;
  readonly durable: ResolvedDurable;
}

export interface ResolvedServe extends ResolvedCommon {
  readonly name: string;
  readonly maxInFlight: number;
  readonly discovery: boolean;
  readonly terminates: boolean;
  readonly durable: ResolvedDurable | undefined;
}

const COMMON: readonly string[] = [
  "servers",
  "subject",
  "connection",
  "maxPayloadBytes",
  "inboxPrefix",
];
const MAX_PAYLOAD_BYTES: number = 2 ** 30;
const DAY_MS: number = 24 * 3600 * 1000;
const SUBJECT = /^[\w-]+(?:\.[\w-]+)*$/;

function resolveCommon(
  owner: string,
  options: unknown,
  further: readonly string[],
): ResolvedCommon {
  if (!isRecord(options)) throw invalid(`The options of ${owner}`, "an object", show(options));
  checkKeys(owner, options, [...COMMON, ...further]);
  const given = ownOf<NatsOptions>(options);
  const { servers = "127.0.0.1:4222", subject, connection = {} } = given;
  const list = Array.isArray(servers) ? servers as unknown[] : [servers];
  if (list.length === 0 || !list.every((server) => typeof server === "string")) {
    throw invalid("servers", "a string or a list of strings", show(servers));
  }
  if (!isRecord(connection)) throw invalid("connection", "an object", show(connection));
  const { maxPayloadBytes = 64 * 1024 * 1024, inboxPrefix = "_INBOX.heddle" } = given;
  checkInteger("maxPayloadBytes", maxPayloadBytes, 1024, MAX_PAYLOAD_BYTES);
  return {
    servers: list as string[],
    subject: checkSubject("subject", subject),
    connection: connection as NodeConnectionOptions,
    maxPayloadBytes: maxPayloadBytes as number,
    inboxPrefix: checkSubject("inboxPrefix", inboxPrefix),
  };
}

function checkSubject(name: string, subject: unknown): string {
  if (typeof subject === "string" && subject.length <= 128 && SUBJECT.test(subject)) return subject;
  throw invalid(name, "letters, digits, '-', '_' and single dots between them", show(subject));
}

function resolveDurable(options: unknown): ResolvedDurable {
  if (!isRecord(options)) throw invalid("durable", "an object of options", show(options));
  const known = ["ackWaitMs", "resultMs", "replicas", "maxInFlight", "taskWaitMs"];
  checkKeys("durable", options, known);
  const given = ownOf<DurableOptions>(options);
  const { ackWaitMs = 30_000, resultMs = DAY_MS, replicas = 1, maxInFlight, taskWaitMs = 60_000 } =
    given;
  return {
    ackWaitMs: checkInteger("durable.ackWaitMs", ackWaitMs, 100, DAY_MS),
    resultMs: checkInteger("durable.resultMs", resultMs, 1000, 365 * DAY_MS),
    replicas: checkInteger("durable.replicas", replicas, 1, 5),
    maxInFlight: maxInFlight === undefined
      ? undefined
      : checkInteger("durable.maxInFlight", maxInFlight, 1, 1_000_000),
    taskWaitMs: checkMs("durable.taskWaitMs", taskWaitMs, 0),
  };
}

/** Throws InvalidArgumentError. */
export function resolveConnect(options: unknown): ResolvedConnect {
  const common = resolveCommon("connectPool()()", options, [
    "lostAfterMs",
    "machineWaitMs",
    "durable",
  ]);
  const { lostAfterMs = 3000, machineWaitMs = 5000, durable = {} } = ownOf<ConnectOptions>(
    options as object,
  );
  return {
    ...common,
    lostAfterMs: checkInteger("lostAfterMs", lostAfterMs, 100, 3_600_000),
    machineWaitMs: checkMs("machineWaitMs", machineWaitMs, 0),
    durable: resolveDurable(durable),
  };
}

/** Throws InvalidArgumentError. `pool` is checked by `createPool`. */
export function resolveServe(options: unknown, processName: () => string): ResolvedServe {
  const own = ["pool", "name", "maxInFlight", "discovery", "terminates", "durable"];
  const common = resolveCommon("serve()", options, own);
  const given = ownOf<ServeOptions>(options as object);
  const { name = processName(), maxInFlight = 256, discovery = true, terminates = true } = given;
  const { durable = false } = given;
  if (typeof name !== "string" || name === "" || name.length > 256) {
    throw invalid("name", "a string of 1 to 256 characters", show(name));
  }
  return {
    ...common,
    name,
    maxInFlight: checkInteger("maxInFlight", maxInFlight, 1, 1_000_000),
    discovery: checkBoolean("discovery", discovery),
    terminates: checkBoolean("terminates", terminates),
    durable: durable === false ? undefined : resolveDurable(durable === true ? {} : durable),
  };
}

/** Connects. Rejects with NoMachinesError if no server can be reached or the credentials are refused. */
export async function openConnection(
  guardSockets: <Result>(open: () => Result) => Result,
  options: ResolvedCommon,
): Promise<NatsConnection> {
  const { servers, connection } = options;
  try {
    const all = {
      name: "heddle",
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      ...connection,
      servers,
    };
    return await guardSockets(() => connect(all));
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    throw new NoMachinesError(`No connection to NATS at ${servers.join(", ")}: ${reason}.`, {
      cause: error,
    });
  }
}

/**
 * A version of the protocol has subjects of its own: its callers reach its machines alone, and learn if there are none. The first
 * one has no mark.
 */
const markOf = (version: number): string => version === 1 ? "" : `.${version}`;
/** Where calls go: one of the machines takes each. */
export const callSubject = (subject: string, version: number = ownVersion()): string =>
  `${subject}.call${markOf(version)}`;
/** What every machine gets. */
export const allSubject = (subject: string, version: number = ownVersion()): string =>
  `${subject}.all${markOf(version)}`;
/** What one machine gets. */
export const machineSubject = (subject: string, id: number): string =>
  `${subject}.machine.${id.toString(36)}`;
/** Where durable calls go; the calls of each id have a subject below it. No program's own subject has a "=". */
export const callsSubject = (subject: string): string => `${subject}.durable.=`;
/** Where answers to one process go. */
export const inboxOf = (prefix: string, id: number): string => `${prefix}.${id.toString(36)}`;
/**
 * Whether a machine may answer there. Whoever calls it names the subject: elsewhere an answer would be a message that the
 * caller may not publish itself, such as the recorded result of a durable call.
 */
export const isBelow = (prefix: string, subject: string): boolean =>
  subject.startsWith(`${prefix}.`);
export const QUEUE_GROUP = "heddle";
/** The last token of the subject of messages about several calls. */
export const NO_CALL = "0";

/** Tokens of calls that one message may name, so that it fits any server's `max_payload`. */
const MAX_TOKENS = 1000;

/** `tokens` in lists that a message has room for; at least one list. */
export function* tokenLists(tokens: readonly string[]): Generator<readonly string[]> {
  let at = 0;
  do {
    yield tokens.slice(at, at += MAX_TOKENS);
  } while (at < tokens.length);
}

const { crypto } = globalThis;

/** A number that no other process has. */
export function randomId(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low + 1;
}

/** An error for an optional package that cannot be loaded. */
export function missingPackage(name: string, feature: string, cause: unknown): Error {
  return new InvalidArgumentError(`${feature} needs the package ${name}: npm install ${name}.`, {
    cause,
  });
}

/** Resolves when `whenDone` calls back, or after `timeoutMs`; Infinity: no limit. */
export async function waitFor(
  runtime: Runtime,
  timeoutMs: number,
  whenDone: (resolve: () => void) => void,
): Promise<void> {
  let timer: Timer | undefined;
  await new Promise<void>((resolve) => {
    whenDone(resolve);
    if (timeoutMs === Infinity) return;
    timer = runtime.setTimeout(resolve, Math.min(timeoutMs, MAX_TIMER_MS));
  });
  timer?.clear();
}
