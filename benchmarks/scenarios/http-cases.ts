/** Names of what `http` and `http-soak` measure: runs, tables and charts tell them apart. */

import { NEVER_SPINNING } from "./contended-cases.ts";
import { ADAPTER } from "./hot-cases.ts";

export const ONE_THREAD = "one thread";
export const HEDDLE_WORKERS = "heddle, a worker per core";
export const CLUSTER = "node:cluster, a process per core";
export const FASTIFY = "Fastify, one thread";
export const GO = "Go net/http";
export const HYPER = "hyper";

export const ON_MAIN = "heavy on the main thread";
export const OFFLOADED = [1, 2] as const;
export const offloadedTo = (workers: number): string =>
  `heavy in ${workers} heddle ${workers === 1 ? "worker" : "workers"}`;
export const MIXED_CONTENDERS: readonly string[] = [ON_MAIN, ...OFFLOADED.map(offloadedTo)];

/** Who runs the short tasks: two threads each. */
export const SHORT_TASK_POOLS = {
  heddle: "heddle",
  neverSpinning: NEVER_SPINNING,
  adapter: ADAPTER,
  bareWorkers: "bare workers",
  piscina: "Piscina",
} as const;
export type ShortTaskPool = typeof SHORT_TASK_POOLS[keyof typeof SHORT_TASK_POOLS];
export const SHORT_TASK_CONTENDERS: readonly ShortTaskPool[] = Object.values(SHORT_TASK_POOLS);

/** What a process measures: the variants of a contender. */
export const GETS = "GETs";
export const WEBSOCKETS = "websockets";
export const MIXED = "mixed load";
export const SHORT_TASKS = "short tasks";

export const TEXT = "plain text";
export const JSON_BODY = "JSON";
export type Body = typeof TEXT | typeof JSON_BODY;

/** What is done to a server; the tool is part of the name, because tools differ. */
export const byTool = (body: Body, tool: string): string => `${body} by ${tool}`;
export const byGets = (body: Body): string => `${body} by 5,000 GETs`;
export const ECHO = "websocket echo";
export const HASHES = "a task of 20 hashes a request";

export const CLOSED = "closed loop";
export const OPEN = "open loop";
export const ALL = "all requests";
export const LIGHT = "light requests";
export const HEAVY = "heavy requests";
export const mixedLoad = (loop: string, requests: string): string => `${loop}, ${requests}`;

/** What is known about a load. Each run adds one sample to each figure, so means are averages over the runs. */
export const RATE = "requests/s";
export const MEAN = "mean latency";
export const P50 = "p50 latency";
export const P99 = "p99 latency";
/** Of all threads of the server, for each request. */
export const CPU = "processor time";
export const FIGURES = [RATE, MEAN, P50, P99, CPU] as const;
export type HttpFigure = typeof FIGURES[number];

export const caseOf = (load: string, figure: HttpFigure): string => `${load}: ${figure}`;
/** The load of a case. */
export const loadOf = (name: string): string => name.slice(0, name.lastIndexOf(": "));

/** `size` of the open loop: per cent of the rate that the main thread alone reaches. */
export const OPEN_LOOP_PERCENT = 75;

export const SOAK_CONTENDER = "heddle, offloading";
export const SOAK_MEMORY = "resident memory";
export const SOAK_LIGHT = "light requests, p99 of each part";
export const SOAK_RATE = "requests answered";
