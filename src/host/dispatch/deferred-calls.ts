/**
 * Calls that cannot be encoded in full when they are made: promises among their arguments have to settle, or, in a
 * module pool, a worker has to describe the task first. All other arguments are taken when the call is made.
 */
import { HeddleError } from "../../errors.ts";
import type { Signature } from "../../codec/struct/signature.ts";
import type { Snapshot, SnapshotEncoder } from "../../lane/snapshot.ts";
import type { SnapshotReader } from "../../lane/snapshot-reader.ts";
import type { CallSettings } from "../calls/call-settings.ts";
import type { InFlight, PendingCall, Reject, Resolve } from "../calls/in-flight.ts";
import type { PendingWork } from "../calls/pending-work.ts";
import { PendingArguments, redeclare } from "./pending-arguments.ts";
import type { Sender } from "./queue/sender.ts";
import type { WaitingCalls } from "./queue/waiting-calls.ts";

/** A described task, with the settings of one call of it. */
interface KnownTask {
  readonly task: number;
  readonly settings: CallSettings;
}

/** Finds the task of a call when the tasks are known. An error: the module has none of that name, or the call does not fit it. */
export type FindTask = () => KnownTask | HeddleError;

/** A task of a module pool that no worker has described yet. */
interface EarlyTask {
  readonly name: string;
  readonly find: FindTask;
}

/** The task of a call: its index, or how to find it. */
export type CalledTask = number | EarlyTask;

/** A call made before its task was known. */
interface EarlyCall {
  readonly call: PendingCall;
  readonly generation: number;
  readonly madeMs: number;
  readonly find: FindTask;
  readonly args: PendingArguments;
}

export interface DeferredCallsOptions {
  readonly inFlight: InFlight;
  readonly sender: Sender;
  readonly waiting: WaitingCalls;
  readonly snapshots: SnapshotEncoder;
  readonly createReader: () => SnapshotReader;
  /** Declared types of each task, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
  /** Whether the last argument of every call is its context. */
  readonly hasContext: boolean;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly now: () => number;
  /** Throws if no call may be made. Called after the last user code. */
  readonly check: (settings: CallSettings) => void;
  readonly pending: PendingWork;
}

/** `task` of a call in `Sender.begin` before its task is known. */
const UNKNOWN_TASK = -1;

export class DeferredCalls {
  #early: EarlyCall[] = [];
  #areTasksKnown = false;
  #reader: SnapshotReader | undefined;
  readonly #options: DeferredCallsOptions;

  constructor(options: DeferredCallsOptions) {
    this.#options = options;
  }

  /** Number of calls whose task is not known yet. */
  get early(): number {
    return this.#early.length;
  }

  /** Makes a call. The settings of an early one must not be PLAIN. */
  submit(
    called: CalledTask,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall {
    const { isPromise, snapshots, signatures, sender, now } = this.#options;
    const task = typeof called === "number" ? called : UNKNOWN_TASK;
    const pending = new PendingArguments(args, isPromise, snapshots, signatures[task]?.args);
    const call = this.#begin(pending, resolve, reject, settings, task);
    if (typeof called === "number") this.#queueWhenKnown(call, task, pending);
    else {
      const { generation } = call;
      this.#early.push({ call, generation, madeMs: now(), find: called.find, args: pending });
    }
    sender.unmark();
    // A getter of an argument may have waited for the tasks (`pool.sync`).
    if (this.#areTasksKnown) this.startEarly();
    return call;
  }

  /** The tasks are known: early calls are queued in the order in which they were made. */
  startEarly(): void {
    this.#areTasksKnown = true;
    const { inFlight, sender } = this.#options;
    for (const { call, generation, madeMs, find, args } of this.#early.splice(0)) {
      if (inFlight.find(call.slot, generation) === undefined) continue;
      const found = find();
      if (found instanceof HeddleError) {
        inFlight.reject(call, found);
        continue;
      }
      sender.adopt(call, found.settings, found.task);
      if (call.firstSeenMs < 0) call.firstSeenMs = madeMs; // its deadline counts from the call
      this.#queueWhenKnown(call, found.task, args, true);
    }
  }

  #begin(
    pending: PendingArguments,
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
    task: number,
  ): PendingCall {
    const { sender, waiting, check } = this.#options;
    check(settings);
    this.#options.pending.kick();
    const call = sender.begin(resolve, reject, settings, task);
    call.markStateful().waiting = {
      onOver: () => {
        pending.onOver();
        waiting.endDeferred();
      },
    };
    waiting.addDeferred();
    return call;
  }

  #queueWhenKnown(call: PendingCall, task: number, args: PendingArguments, isEarly = false): void {
    const { inFlight, waiting } = this.#options;
    const fail = (reason: unknown): void => inFlight.reject(call, reason);
    args.whenKnown((snapshot) => {
      let known: Snapshot;
      try {
        known = isEarly ? this.redeclare(snapshot, task) : snapshot;
      } catch (error) {
        fail(error);
        return;
      }
      call.waiting = undefined;
      waiting.endDeferred();
      waiting.add(call, task, known);
    }, fail);
  }

  /** Encodes the arguments of an early call again if its task declares shapes for them. */
  redeclare(snapshot: Snapshot, task: number): Snapshot {
    const { snapshots, signatures, createReader, hasContext } = this.#options;
    const declared = signatures[task]?.args;
    if (declared === undefined) return snapshot;
    this.#reader ??= createReader();
    return redeclare(snapshot, declared, this.#reader, snapshots, hasContext);
  }
}
