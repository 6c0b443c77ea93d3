/** The functions of `pool.call` as `pool.map` and scopes use them. */
import { Error, Promise, WeakMap } from "../../../../builtins.ts";
import { InvalidArgumentError, TimeoutError } from "../../../../errors.ts";
import { type CallSettings, createSettings } from "../../../../host/calls/call-settings.ts";
import { bindOnce } from "../../../../host/calls/caller-context.ts";
import type { Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { CHUNK, type ChunkResult } from "../../../../protocol/task-variants.ts";
import { type GivenCall, mergeOptions } from "../../../../api/options/call-options.ts";
import { type CallParts, callParts } from "../../../../api/calls/call-parts.ts";
import { settingsFor } from "../../../../api/calls/call-proxy.ts";
import type { CallSink } from "../../../../api/options/resolved-options.ts";

/** Calls of one task with the signal of one run of `map`. */
export interface BoundCall {
  readonly single: (...args: readonly unknown[]) => Promise<unknown>;
  /** Undefined: only single calls are possible. */
  readonly chunk: ChunkCall | undefined;
  /** Calls with one retry less, for each item of a chunk whose worker was lost. Undefined: the task is not retried. */
  readonly again?: BoundCall["single"] | undefined;
  /** Aborts the calls. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the task is known. Otherwise `bind` may give chunks later. */
  readonly isKnown: boolean;
}

/**
 * Calls the task for each item, or reduces the items by it. `args` follow the items of each call. Returns undefined if the
 * chunk cannot be sent, although some of its items perhaps can.
 */
type ChunkCall = (
  items: readonly unknown[],
  isReduction: boolean,
  args: readonly unknown[],
) => Promise<ChunkResult> | undefined;

export interface Mappable {
  /** The name of its task. */
  readonly name: string;
  /** The handle of its pool, or its scope. */
  readonly owner: object;
  /** Calls with further options: those of one run. */
  readonly bind: (more: GivenCall) => BoundCall;
  /** The function with further options. */
  readonly make: (more: GivenCall) => (...args: unknown[]) => unknown;
}

/** The functions of scopes. */
const scoped = new WeakMap<object, Mappable>();

/** Makes a function of a scope mappable. */
export function setMappable(call: object, made: Mappable): void {
  scoped.set(call, made);
}

/** How `map` makes calls of a function; undefined: it is none of a pool or a scope. */
export function mappableOf(call: object): Mappable | undefined {
  const parts = callParts.get(call);
  if (parts === undefined) return scoped.get(call);
  const { name, owner, make } = parts;
  return { name, owner, make, bind: (more) => bind(parts, more) };
}

function bind({ spec, entry, given: own, find, make }: CallParts, more: GivenCall): BoundCall {
  const task = find();
  if (task instanceof Error) return refusedMap(task);
  const single = make(more) as BoundCall["single"];
  const given = mergeOptions(own, more);
  const { signal } = given;
  if (task === undefined) return { single, chunk: undefined, isKnown: false, signal };
  const { tasks, options, signatures } = spec;
  const { settings, isStream, check } = tasks[task]!;
  const refusal = whyNotMapped(isStream, given.transfer !== undefined);
  if (refusal !== undefined) return refusedMap(refusal);
  // The signal of a chunk keeps it from calling the task for further items.
  const ofChunk = settingsFor(options, { ...settings, hasSignal: true }, given);
  // Each of their arguments is checked by its own call.
  const isDeclared = signatures[task] !== undefined || check !== undefined;
  const { retries } = ofChunk;
  // Which of its items ended the worker is found by single calls.
  const again = retries > 0
    ? make({ ...more, retries: retries - 1 }) as BoundCall["single"]
    : undefined;
  return {
    single,
    chunk: chunkCall(entry, task + CHUNK * tasks.length, { ...ofChunk, retries: 0 }, isDeclared),
    again,
    isKnown: true,
    signal,
  };
}

/** Calls that all reject with `error`. */
function refusedMap(error: Error): BoundCall {
  return { single: () => Promise.reject(error), chunk: undefined, isKnown: true };
}

const NO_GENERATORS = "map(), forEach() and reduce() take no generator tasks.";
const NO_TRANSFER =
  "map(), forEach() and reduce() take no function of with({ transfer }), which moves objects with one call: wrap the items " +
  "that move in transfer().";

/** Why a task that is known cannot be mapped. */
function whyNotMapped(isStream: boolean, isMoving: boolean): Error | undefined {
  if (isStream) return new InvalidArgumentError(NO_GENERATORS);
  return isMoving ? new InvalidArgumentError(NO_TRANSFER) : undefined;
}

/** How late a limit may expire, as a share of it. */
const HARD_LIMIT_SHARE = 1 / 8;

/** Calls of chunks, of the task with this index. Undefined if each item needs a call of its own. */
function chunkCall(
  entry: CallSink,
  task: number,
  settings: CallSettings,
  isDeclared: boolean,
): ChunkCall | undefined {
  // A time limit, and what happens then, is that of an item.
  const { runTimeoutMs, stallMs, timeoutMs } = settings;
  const isTimed = Math.min(runTimeoutMs, stallMs, timeoutMs) !== Infinity;
  if (isDeclared || isTimed || settings.onEvent !== undefined) return undefined;
  // The hard limit is that of an item as well: the worker ends a chunk early, so that each item has the whole limit.
  const { hardTimeoutMs } = settings;
  const budgetMs = hardTimeoutMs * HARD_LIMIT_SHARE;
  const ofChunk = createSettings({ ...settings, hardTimeoutMs: hardTimeoutMs + budgetMs });
  return (items, isReduction, args) => {
    let isMade = false;
    const run = entry.mapError && bindOnce();
    const result = new Promise((resolve: Resolve, reject: Reject) => {
      const settle: Resolve = run === undefined
        ? resolve
        : (value) => run(() => resolve(mapReason(value as ChunkResult, entry.mapError!)));
      const fail: Reject = (error) => {
        const isHard = error instanceof TimeoutError && error.limitMs === ofChunk.hardTimeoutMs;
        reject(isHard ? new TimeoutError("hard", hardTimeoutMs) : error);
      };
      entry.submit(task, [items, isReduction, budgetMs, ...args], settle, fail, ofChunk);
      isMade = true;
    }) as Promise<ChunkResult>;
    if (isMade) return result;
    result.catch(() => {}); // single calls tell why
    return undefined;
  };
}

/** The error that ended a chunk is part of its result. */
function mapReason(result: ChunkResult, mapError: (reason: unknown) => unknown): ChunkResult {
  if (result.length === 3) return result;
  const [results, ms, used, reason] = result;
  try {
    return [results, ms, used, mapError(reason)];
  } catch (error) {
    return [results, ms, used, error];
  }
}
