/** Options of a call beyond its arguments. Calls with equal options share one object. */
import type { SentCallbacks } from "../../features/calls/requests/callback-value.ts";
import type { AnyIterator } from "../../features/calls/streams/stream-producer.ts";
import type { CallerContext } from "./caller-context.ts";

/**
 * The key of a call, with its slot once it is computed (`key-slots.ts`); or the id of a worker, which may change while the call waits
 * for promises; or the mark of a nested call, which any worker may run if there is no other.
 */
export type Affinity =
  | { readonly key: string | number; slot?: number }
  | { readonly workerId: number; readonly isNested?: true }
  | { readonly isNested: true };

/** A call as those see it who follow its run. */
export interface CallRun {
  readonly slot: number;
  readonly generation: number;
  /** Its worker; negative: none. */
  readonly lane: number;
}

/** Follows calls beyond the time when they are settled: until no worker runs their tasks any more. Runs no user code. */
export interface RunWatch {
  /** The `killAfterMs` of calls that have none. */
  readonly killAfterMs: number;
  /** The call was made; once more when its task has become known. */
  onMade(call: CallRun): void;
  /** The call is about to be settled without a response, and its task may go on. */
  onLeftRunning(call: CallRun): void;
  /** The call is settled. */
  onOver(call: CallRun): void;
}

/** Is called for a call that was made, with the parts of its pool (`CallFeature.whenMade`). */
export type OnMade = (call: never, host: never) => void;

export interface CallSettings {
  /** Levels above (or below) normal, which is 0. */
  readonly priority: number;
  /** Longest time running, in milliseconds; Infinity: none. */
  readonly runTimeoutMs: number;
  /** Longest time running in which nothing is heard of the task, in milliseconds; Infinity: none. */
  readonly stallMs: number;
  /** Longest time since the call was made; Infinity: none. */
  readonly timeoutMs: number;
  /** Longest time running before the worker is stopped; Infinity: none. */
  readonly hardTimeoutMs: number;
  /** What the call resolves with after either of the first two; undefined: it rejects with TimeoutError. */
  readonly timeoutValue: unknown;
  readonly signal: AbortSignal | undefined;
  /** Time from the early end of the call until the worker is stopped if the task has not ended; Infinity: never. */
  readonly killAfterMs: number;
  /** How often the call is retried if its worker is lost. */
  readonly retries: number;
  /** Whether the task gets a signal of its own. */
  readonly hasSignal: boolean;
  /** The only worker that may run the call: that of its key, or one by its id. Undefined: any. */
  readonly affinity: Affinity | undefined;
  /** Gets the events of the call. */
  readonly onEvent: ((value: unknown) => void) | undefined;
  /** Whether its result is a stream, which may be cancelled before a worker begins the call. */
  readonly isStream: boolean;
  /** The streams among its arguments (features/calls/streams/host/argument-sources.ts). */
  readonly streams: readonly AnyIterator[] | undefined;
  /** Whether the host blocks until the call is settled, so that it cannot run the task itself. */
  readonly isBlocking: boolean;
  /** Follows the call, for a scope. */
  readonly run: RunWatch | undefined;
  /** What its task may call of its arguments. */
  readonly callbacks: SentCallbacks | undefined;
  /** Whether functions of the host may be called by its task, and run in the context of its caller. */
  readonly asksHost: boolean;
  /** That context, if it is not that in which the call is made. */
  readonly context: CallerContext | undefined;
  /** Time between two checks of such a call, in milliseconds; Infinity: it has no limits. */
  readonly tickMs: number;
  /** What features do when such a call is made. */
  readonly onMade: readonly OnMade[];
}

/** Bounds of `tickMs`, and ticks per limit. A limit is exceeded by at most about two ticks. */
const MIN_TICK_MS = 1;
const MAX_TICK_MS = 50;
const TICKS_PER_LIMIT = 16;

export type GivenSettings = Partial<Omit<CallSettings, "tickMs" | "onMade">>;

const NOTHING: readonly OnMade[] = [];

/** By the name of a setting: what features do for calls that have it, in the order of the features. */
export const whenMade: (readonly [keyof CallSettings, OnMade])[] = [];

/** The settings of a plain call: one without any. */
export const PLAIN: CallSettings = fill({});

/** The settings of calls. PLAIN if none of them differs from a plain call's. What they ask of features is found here, once. */
export function createSettings(given: GivenSettings): CallSettings {
  const settings = fill(given);
  const isPlain = settings.priority === 0 && settings.tickMs === Infinity &&
    settings.retries === 0 &&
    settings.signal === undefined && !settings.hasSignal && settings.affinity === undefined &&
    settings.killAfterMs === Infinity && settings.streams === undefined &&
    settings.callbacks === undefined && settings.onEvent === undefined &&
    settings.run === undefined && !settings.asksHost && !settings.isBlocking && !settings.isStream;
  if (isPlain) return PLAIN;
  const onMade: OnMade[] = [];
  for (const [name, hook] of whenMade) if (settings[name] !== PLAIN[name]) onMade.push(hook);
  return { ...settings, onMade };
}

/** Sets every property in the same order, so that all settings have one hidden class. */
function fill(options: GivenSettings): CallSettings {
  const given = { __proto__: null, ...options } as GivenSettings;
  const { runTimeoutMs = Infinity, timeoutMs = Infinity, hardTimeoutMs = Infinity } = given;
  const { stallMs = Infinity } = given;
  const least = Math.min(runTimeoutMs, stallMs, timeoutMs, hardTimeoutMs);
  return {
    priority: given.priority ?? 0,
    runTimeoutMs,
    stallMs,
    timeoutMs,
    hardTimeoutMs,
    timeoutValue: given.timeoutValue,
    signal: given.signal,
    killAfterMs: given.killAfterMs ?? given.run?.killAfterMs ?? Infinity,
    retries: given.retries ?? 0,
    hasSignal: given.hasSignal ?? false,
    affinity: given.affinity,
    onEvent: given.onEvent,
    isStream: given.isStream ?? false,
    streams: given.streams,
    isBlocking: given.isBlocking ?? false,
    run: given.run,
    callbacks: given.callbacks,
    asksHost: given.asksHost ?? false,
    context: given.context,
    tickMs: least === Infinity
      ? Infinity
      : Math.min(Math.max(least / TICKS_PER_LIMIT, MIN_TICK_MS), MAX_TICK_MS),
    onMade: NOTHING,
  };
}
