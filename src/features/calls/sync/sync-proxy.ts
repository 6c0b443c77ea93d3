/**
 * `pool.sync`: the tasks of a pool as functions that block this thread until the task is done. They make the same calls as those of
 * `pool.call`; `features/calls/sync/blocking-wait.ts` takes the place of the event loop.
 */
import { Promise } from "../../../builtins.ts";
import {
  type CallOptions,
  changeOf,
  checkCallOptions,
  type GivenCall,
  mergeOptions,
  NO_OPTIONS,
} from "../../../api/options/call-options.ts";
import { DeadlockError, HeddleError, InvalidArgumentError } from "../../../errors.ts";
import type { BlockingWait } from "./blocking-wait.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import { type CallSettings, createSettings } from "../../../host/calls/call-settings.ts";
import type { CalledTask, FindTask } from "../../../host/calls/queued-call.ts";
import type { HostRequests } from "../requests/host/host-requests.ts";
import { type BindEnd, bindOnce } from "../../../host/calls/caller-context.ts";
import { atCaller, takingAll } from "../../../realm/caller-stack.ts";
import { dropArguments } from "../../../host/calls/feature.ts";
import { isStreamable } from "../../../protocol/is-streamable.ts";
import { isThenable } from "../../../protocol/is-thenable.ts";
import type { PoolSpec } from "../../../api/tasks/pool-spec.ts";
import { createTable, findKnown, settingsFor, unknownTask } from "../../../api/calls/call-proxy.ts";
import { blocking } from "../../../api/calls/call-parts.ts";
import type { CallSink } from "../../../api/options/resolved-options.ts";

type SyncCall = (...args: unknown[]) => unknown;
type SyncCallWith = SyncCall & { with(options: CallOptions): SyncCallWith };

export type SyncProxy = Readonly<Record<string, SyncCallWith>>;

export interface SyncTarget {
  readonly entry: CallSink;
  readonly blocking: BlockingWait;
  readonly requests: HostRequests;
  /** Whether the tasks are known, or are being learned by promises that this thread would have to wait for. */
  readonly knowledge: () => "known" | "unknown" | "learning";
  /** Whether the tasks run on this thread. */
  readonly isOnHost: () => boolean;
  readonly cancel: (call: PendingCall, reason: unknown) => void;
  /** Kept while its functions are. */
  readonly pool: object;
}

type KnownCall = Exclude<ReturnType<FindTask>, HeddleError>;
type Outcome = { readonly value: unknown } | { readonly reason: unknown };

export function createSyncProxy(spec: PoolSpec, target: SyncTarget): SyncProxy {
  const made = Object.create(null) as Record<string, SyncCallWith>;
  return createTable<SyncCallWith>((name) =>
    made[name] ??= callWith(spec, target, name, NO_OPTIONS)
  );
}

/** The function with these options, which takes further ones. Scopes know it. */
function callWith(
  spec: PoolSpec,
  target: SyncTarget,
  name: string,
  given: GivenCall,
): SyncCallWith {
  const call = Object.assign(createCall(spec, target, name, given, Infinity), {
    with: atCaller((options: CallOptions) => {
      spec.uses?.needForOptions(Object(options) as object, "with()");
      return callWith(spec, target, name, mergeOptions(given, checkCallOptions(options)));
    }),
  });
  blocking.set(
    call,
    (more, timeoutMs) => createCall(spec, target, name, mergeOptions(given, more), timeoutMs),
  );
  return call;
}

/** `timeoutMs`: a limit besides those of the options. */
function createCall(
  spec: PoolSpec,
  target: SyncTarget,
  name: string,
  given: GivenCall,
  timeoutMs: number,
): SyncCall {
  let known: KnownCall | undefined;
  return takingAll((args) => {
    if (known === undefined && target.knowledge() === "known") {
      const found = findCall(spec, name, given, timeoutMs);
      if (found instanceof HeddleError) throw found;
      known = found;
    }
    const sent = checkArguments(spec, known, name, args);
    const declared = known && spec.signatures[known.task]?.args;
    const change = changeOf(given);
    const moved = change?.(sent, given, declared, spec.runtime.isPromise) ?? sent;
    if (moved instanceof InvalidArgumentError) throw moved;
    return known === undefined
      ? callEarly(spec, target, name, given, timeoutMs, moved)
      : wait(target, name, known.task, moved, known.settings);
  });
}

/**
 * Makes a call, and blocks until it is settled, or `mustStop`. Who observes the call, and `mapError`, hear of its end when that
 * wait is over, on the stack of the caller.
 */
function wait(
  { entry, blocking, requests, isOnHost, cancel }: SyncTarget,
  name: string,
  called: CalledTask,
  args: readonly unknown[],
  settings: CallSettings,
  mustStop?: () => boolean,
): unknown {
  if (isOnHost()) throw runsHere(name);
  let outcome: Outcome | undefined;
  let ends: (() => void)[] | undefined;
  let hasBlocked = false;
  const bindEnd: BindEnd = () => {
    const later = bindOnce(); // for the end of a stream that it returns
    return (f) => hasBlocked ? later(f) : void (ends ??= []).push(f);
  };
  const call = entry.submit(
    called,
    args,
    (value) => outcome ??= { value },
    (reason) => outcome ??= { reason },
    settings,
    bindEnd,
  );
  const isOver = (): boolean =>
    outcome !== undefined || ends !== undefined || isOnHost() || mustStop?.() === true;
  const block = (): void => blocking.until(isOver);
  if (call === undefined) block();
  else requests.whileBlocked(call, `pool.sync.${name}()`, isOver, block);
  const isUnrun = outcome === undefined && ends === undefined && isOnHost();
  const error = isUnrun ? runsHere(name) : undefined;
  if (isUnrun && call !== undefined) cancel(call, error);
  // Each may add one.
  if (ends !== undefined) { for (const end of ends as (() => void)[]) end(); }
  hasBlocked = true;
  if (isUnrun && outcome === undefined) throw error;
  const settled = outcome as Outcome | undefined;
  if (settled !== undefined && "reason" in settled) throw settled.reason;
  return settled?.value;
}

function runsHere(name: string): DeadlockError {
  return new DeadlockError(
    `pool.sync.${name}() would wait for itself: the tasks of this pool run on this thread (threads: 0, or onUnavailable where no thread can start). Use pool.call.`,
  );
}

/** A call of a module pool whose tasks no worker has described yet. */
function callEarly(
  spec: PoolSpec,
  target: SyncTarget,
  name: string,
  given: GivenCall,
  timeoutMs: number,
  args: readonly unknown[],
): unknown {
  let isRefused = false;
  const find: FindTask = () => isRefused ? needsReady() : findCall(spec, name, given, timeoutMs);
  const isLearning = (): boolean => target.knowledge() === "learning";
  const own = within(settingsFor(spec.options, {}, given), timeoutMs);
  const settings = { ...own, isBlocking: true };
  const result = wait(target, name, { name, find }, args, settings, isLearning);
  if (!isLearning()) return result;
  isRefused = true; // the call is over when its task is known
  throw needsReady();
}

function needsReady(): InvalidArgumentError {
  return new InvalidArgumentError(
    "The tasks of this module declare structs, which the host loads code for: await pool.ready before the first pool.sync call.",
  );
}

/** The task of a known name, for calls with these options. */
function findCall(
  spec: PoolSpec,
  name: string,
  given: GivenCall,
  timeoutMs: number,
): KnownCall | HeddleError {
  const task = spec.sources.findIndex((source) => source.name === name);
  if (task < 0) return unknownTask(name, spec);
  if (!spec.tasks[task]!.isStream) {
    const found = findKnown(spec, task, given);
    if (found instanceof HeddleError) return found;
    const settings = within(found.settings, timeoutMs);
    // Otherwise such settings would take the longer way for nothing.
    const isBlocking = spec.options.createInliner !== undefined;
    return { ...found, settings: isBlocking ? { ...settings, isBlocking } : settings };
  }
  return new InvalidArgumentError(
    `"${name}" is a generator, whose items arrive in the event loop: read pool.call.${name}() by for await.`,
  );
}

function within(settings: CallSettings, timeoutMs: number): CallSettings {
  if (timeoutMs >= settings.timeoutMs) return settings;
  return createSettings({ ...settings, timeoutMs });
}

/** What the host cannot wait for while it blocks is refused. */
function checkArguments(
  { runtime, tasks }: PoolSpec,
  known: KnownCall | undefined,
  name: string,
  args: readonly unknown[],
): readonly unknown[] {
  for (const [index, arg] of args.entries()) {
    const isPromise = runtime.isPromise(arg);
    if (!isPromise && !isStreamable(arg)) continue;
    for (const each of args) if (runtime.isPromise(each)) Promise.resolve(each).catch(() => {});
    dropArguments(args);
    throw new InvalidArgumentError(
      `Argument ${index + 1} of pool.sync.${name}() is a ${isPromise ? "promise" : "stream"}: ` +
        "it would have to be read in the event loop, which does not run meanwhile.",
    );
  }
  const check = known && tasks[known.task]?.check;
  if (check === undefined) return args;
  const checked = check(args[0]);
  if (!isThenable(checked)) return [checked, ...args.slice(1)];
  Promise.resolve(checked).catch(() => {});
  throw new InvalidArgumentError(
    `The input schema of "${name}" validates by a promise: use pool.call, or validateOn: "worker".`,
  );
}
