/** `pool.broadcast`: the tasks of a pool as functions that call every worker once. */
import { Error, Map, Promise } from "../../../builtins.ts";
import { atCaller } from "../../../realm/caller-stack.ts";
import type { GivenSettings } from "../../../host/calls/call-settings.ts";
import { checkBroadcastOptions } from "./broadcast-options.ts";
import { mergeOptions } from "../../../api/options/call-options.ts";
import { createTable, findKnown, unknownTask } from "../../../api/calls/call-proxy.ts";
import { checkedArguments } from "../../../api/calls/checked.ts";
import type { CallEntry } from "../../../host/dispatch/call-entry.ts";
import type { Broadcasts } from "./broadcasts.ts";
import { hasPromise } from "../../../host/dispatch/pending-arguments.ts";
import type { Runtime } from "../../../runtimes/runtime.ts";
import type { FindTask } from "../../../host/calls/queued-call.ts";
import type { PoolSpec } from "../../../api/tasks/pool-spec.ts";
import { dropArguments } from "../../../host/calls/feature.ts";

type Broadcast = (...args: unknown[]) => Promise<unknown[]>;
type BroadcastWith = Broadcast & { with(options: unknown): BroadcastWith };

interface BroadcastFeatures {
  readonly broadcasts: Broadcasts;
}

export type BroadcastProxy = Readonly<Record<string, BroadcastWith>>;

/**
 * Creates `pool.broadcast`. `isKnown`: whether the tasks are known, which is always so but in a module pool before its
 * first worker is ready. `pool` is kept as long as a function of it.
 */
export function createBroadcastProxy(
  spec: PoolSpec,
  features: BroadcastFeatures,
  entry: CallEntry,
  isKnown: () => boolean,
  pool: object,
): BroadcastProxy {
  const made = new Map<string, BroadcastWith>();
  const { isPromise } = spec.runtime;
  const names = (): string[] => spec.sources.map(({ name }) => name);
  return createTable<BroadcastWith>((name, where) => {
    let found = made.get(name);
    if (found === undefined) {
      const place = names().includes(name) ? undefined : where();
      const at = (given: GivenSettings, isSticky: boolean): BroadcastWith => {
        const find: FindTask = () => {
          const task = names().indexOf(name);
          if (task < 0) return unknownTask(name, spec, place);
          return findKnown(spec, task, given);
        };
        // The tasks of a module pool have no check on the host.
        const check = spec.tasks[names().indexOf(name)]?.check;
        const broadcast: Broadcast = (...args) =>
          start(
            { pool, features, entry, isKnown, find, isSticky, isPromise },
            check === undefined ? args : checkedArguments(check, args),
          );
        return Object.assign(broadcast, {
          with: atCaller((options: unknown) => {
            spec.uses?.needForOptions(Object(options) as object, "with()");
            const next = checkBroadcastOptions(options);
            return at(mergeOptions(given, next.given), next.isSticky ?? isSticky);
          }),
        });
      };
      made.set(name, found = at({}, false));
    }
    return found;
  });
}

interface Start {
  /** Not used: its workers run while a broadcast is under way. */
  readonly pool: object;
  readonly features: BroadcastFeatures;
  readonly entry: CallEntry;
  readonly isKnown: () => boolean;
  readonly find: FindTask;
  readonly isSticky: boolean;
  readonly isPromise: Runtime["isPromise"];
}

/** A broadcast takes no streams: each worker would need one of its own. */
async function start(options: Start, args: readonly unknown[]): Promise<unknown[]> {
  try {
    return await startWith(options, args);
  } catch (error) {
    dropArguments(args);
    throw error;
  }
}

/** Promises among the arguments are awaited first. */
async function startWith(
  { features, entry, isKnown, find, isSticky, isPromise }: Start,
  args: readonly unknown[],
): Promise<unknown[]> {
  const values = hasPromise(args, isPromise) ? await Promise.all(args) : args;
  if (!isKnown()) {
    return features.broadcasts.startEarly(find, entry.carry(values, undefined), isSticky);
  }
  const found = find();
  if (found instanceof Error) throw found;
  return features.broadcasts.start(
    found.task,
    entry.carry(values, found.task),
    found.settings,
    isSticky,
  );
}
