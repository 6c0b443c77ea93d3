/** Types of synckit, by its names. */
import type { Transferable } from "node:worker_threads";
import type { TsRunner } from "./constants.ts";

// Functions of any kind are types here, as in synckit.
// deno-lint-ignore no-explicit-any
export type AnyFn<R = any, T extends any[] = any[]> = (...args: T) => R;

/** The function of a worker as its host calls it: with its result in place of a promise. */
export type Syncify<T extends AnyFn> = (...args: Parameters<T>) => Awaited<ReturnType<T>>;

export type ValueOf<T> = T[keyof T];

/** What a worker wrote to one of its streams. */
export interface StdioChunk {
  type: "stderr" | "stdout";
  chunk: Uint8Array | string;
  encoding: BufferEncoding;
}

/** A module that a worker loads before its script, and the global that it sets. */
export interface GlobalShim {
  moduleName: string;
  /** None: the module is loaded for what it does. */
  globalName?: string;
  /** The export; empty: `default`; null: the namespace. */
  named?: string | null;
  /** false: also if the global exists. */
  conditional?: boolean;
}

/** The part of `package.json` that says what its modules are. */
export interface PackageJson {
  type?: "commonjs" | "module";
}

/** Options of `createSyncFn`. */
export interface SynckitOptions {
  /** Flags of Node for the worker. */
  execArgv?: string[];
  /** Modules that the worker loads before its script; true: the preset. */
  globalShims?: GlobalShim[] | boolean;
  /** Limit of each call, in milliseconds. */
  timeout?: number;
  /** Objects that are detached when the worker starts. */
  transferList?: Transferable[];
  /** How the worker loads TypeScript. */
  tsRunner?: TsRunner;
}
