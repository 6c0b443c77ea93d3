/**
 * Calls with promises among their arguments, which are encoded in full when these have settled. All other arguments are taken
 * when the call is made.
 */
import { HeddleError } from "../../errors.ts";
import type { Signature } from "../../codec/declared.ts";
import type { Snapshot, SnapshotEncoder } from "../../lane/snapshot.ts";
import type { CallPart } from "../calls/call-extra.ts";
import type { CallSettings } from "../calls/call-settings.ts";
import type { InFlight, PendingCall, Reject, Resolve } from "../calls/in-flight.ts";
import type { PendingWork } from "../calls/pending-work.ts";
import { type CalledTask, type EarlyTask, UNKNOWN_TASK } from "../calls/queued-call.ts";
import { PendingArguments } from "./pending-arguments.ts";
import type { Sender } from "./queue/sender.ts";
import type { WaitingCalls } from "./queue/waiting-calls.ts";

/** A call made before its task was known. */
interface EarlyCall {
  readonly call: PendingCall;
  readonly generation: number;
  readonly called: EarlyTask;
  /** Its task, once that is known. */
  task: number;
}

export interface DeferredCallsOptions {
  readonly inFlight: InFlight;
  readonly sender: Sender;
  readonly waiting: WaitingCalls;
  readonly snapshots: SnapshotEncoder;
  /** Declared types of each task, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly now: () => number;
  /** Throws if no call may be made. Called after the last user code. */
  readonly check: (settings: CallSettings) => void;
  /** Arguments taken before their task was known, as its declared shapes require. */
  readonly redeclare: (snapshot: Snapshot, task: number) => Snapshot;
  readonly pending: PendingWork;
}

/** Of a call that waits for promises. */
export class DeferredPart implements CallPart {
  readonly #pending: PendingArguments;
  readonly #waiting: WaitingCalls;

  constructor(pending: PendingArguments, waiting: WaitingCalls) {
    this.#pending = pending;
    this.#waiting = waiting;
  }

  onOver(): void {
    this.#pending.onOver();
    this.#waiting.endDeferred();
  }
}

export class DeferredCalls {
  #early: EarlyCall[] = [];
  readonly #options: DeferredCallsOptions;

  constructor(options: DeferredCallsOptions) {
    this.#options = options;
  }

  /** Number of calls whose task is not known yet. */
  get early(): number {
    return this.#early.length;
  }

  /** Makes a call. */
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
    let early: EarlyCall | undefined;
    if (typeof called !== "number") {
      early = { call, generation: call.generation, called, task };
      this.#early.push(early);
      call.keep().madeMs = now();
    }
    this.#queueWhenKnown(call, task, pending, early);
    sender.unmark();
    return call;
  }

  /** The tasks are known. */
  onTasksKnown(): void {
    const { inFlight, sender } = this.#options;
    for (const early of this.#early.splice(0)) {
      const { call } = early;
      if (inFlight.find(call.slot, early.generation) === undefined) continue;
      const found = early.called.find();
      if (found instanceof HeddleError) {
        inFlight.reject(call, found);
        continue;
      }
      early.task = found.task;
      sender.adopt(call, found.settings, found.task);
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
    call.keep().add(new DeferredPart(pending, waiting));
    waiting.addDeferred();
    return call;
  }

  #queueWhenKnown(
    call: PendingCall,
    task: number,
    args: PendingArguments,
    early: EarlyCall | undefined,
  ): void {
    const { inFlight, waiting, redeclare } = this.#options;
    const fail = (reason: unknown): void => inFlight.reject(call, reason);
    args.whenKnown((snapshot) => {
      let known: Snapshot;
      try {
        known = early === undefined || early.task === UNKNOWN_TASK
          ? snapshot
          : redeclare(snapshot, early.task);
      } catch (error) {
        fail(error);
        return;
      }
      const extra = call.keep();
      extra.remove(extra.find(DeferredPart)!);
      waiting.endDeferred();
      const isKnown = early === undefined || early.task !== UNKNOWN_TASK;
      if (!isKnown) this.#early.splice(this.#early.indexOf(early), 1);
      waiting.add(call, early?.task ?? task, known, undefined, isKnown ? undefined : early.called);
    }, fail);
  }
}
