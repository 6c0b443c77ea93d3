/** What a pool is created from, once options and tasks are checked. */
import type { Signature } from "../../codec/declared.ts";
import type { GivenSettings } from "../../host/calls/call-settings.ts";
import type { TaskSource } from "../../protocol/start-data.ts";
import type { HostRuntime, WorkerEntry } from "../../runtimes/runtime.ts";
import type { SharedWord } from "../../sync/awake-count.ts";
import type { Serve } from "../../worker/site.ts";
import type { ResolvedOptions } from "../options/resolved-options.ts";
import type { Check } from "../../features/values/structs/validation.ts";

/** A task as the host sees it. */
export interface HostTask {
  readonly settings: GivenSettings;
  /** Whether it is known to be a generator function: its calls return streams. */
  readonly isStream: boolean;
  /** Whether workers run calls of it by its name: those of a module pool, before the host knows its tasks. */
  readonly runsByName?: boolean;
  /** The function, unless only workers load it. */
  readonly f: ((...args: unknown[]) => unknown) | undefined;
  /** Checks its argument, if the host does. */
  readonly check: Check | undefined;
}

/** What a pool may use that has not all features (`core/uses.ts`). Its functions throw InvalidArgumentError for what needs another. */
export interface Uses {
  /** Its features, with those that they need. */
  readonly names: ReadonlySet<string>;
  /** `what` needs this feature. */
  readonly need: (feature: string, what: string) => void;
  /** Options of calls are given, or set by a task; `to`: to what. */
  readonly needForOptions: (options: object, to: string) => void;
  /** A member of the pool is read. */
  readonly needForMember: (name: string) => void;
}

export interface PoolSpec {
  readonly options: ResolvedOptions;
  /** The tasks, by index. In a module pool both lists are filled when a worker has described the tasks. */
  readonly sources: readonly TaskSource[];
  readonly tasks: readonly HostTask[];
  /** The tasks that the host has, as they were given, by index. Undefined: only workers load them. */
  readonly known: readonly unknown[];
  /** Their declared types, filled likewise. */
  readonly signatures: readonly (Signature | undefined)[];
  /** The URL of the module of a module pool. */
  readonly taskModule: string | undefined;
  readonly runtime: HostRuntime;
  /** The count of awake workers, and the shares above this pool's workers. */
  readonly active: readonly SharedWord[];
  /** Imports the code of workers on the host, where no thread can start. */
  readonly loadWorkerCode: () => Promise<{ readonly serve: Serve }>;
  /** The module that workers start with. */
  readonly workerEntry: WorkerEntry;
  /** Undefined: all. */
  readonly uses: Uses | undefined;
}
