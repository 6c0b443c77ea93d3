/** Where this program runs. */
import { cpus } from "node:os";
import { isMainThread as isFirstThread } from "node:worker_threads";
import { bridge } from "./bridge.ts";

/** Always "node": Deno and Bun have its modules. */
export const platform = "node";

/** False in workers, threads or processes, of any kind. */
export const isMainThread: boolean = bridge() === undefined && isFirstThread && !process.connected;

/** The number of cores. */
export const availableCpus: number = cpus().length;
