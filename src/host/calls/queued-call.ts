/** A call that waits on the host, or is kept to be made again: what it needs to be sent. */
import type { HeddleError } from "../../errors.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import type { CallSettings } from "./call-settings.ts";

/** A described task, with the settings of one call of it. */
interface KnownTask {
  readonly task: number;
  readonly settings: CallSettings;
  /** Whether workers run calls of it by its name (`runsByName`). */
  readonly runsByName: boolean;
}

/** Finds the task of a call when the tasks are known. An error: the module has none of that name, or the call does not fit it. */
export type FindTask = () => KnownTask | HeddleError;

/** A task of a module pool that no worker has described yet. */
export interface EarlyTask {
  readonly name: string;
  readonly find: FindTask;
}

/** The task of a call: its index, or how to find it. */
export type CalledTask = number | EarlyTask;

/** `task` of a call before its task is known. */
export const UNKNOWN_TASK = -1;

export interface QueuedCall {
  readonly slot: number;
  readonly generation: number;
  readonly task: number;
  /** Of a call whose task is not known. It is sent by name, or not before. */
  readonly early?: EarlyTask | undefined;
  readonly snapshot: Snapshot;
  /** Levels above (or below) normal, which is 0. */
  readonly priority: number;
}
