/**
 * Where the functions of `pool.call` hand their calls over: adds the captured context, and lets an observer follow a call
 * if anybody wants that. Otherwise it costs one check.
 */
import type { Signature } from "../../codec/declared.ts";
import { type CallSettings, PLAIN } from "../calls/call-settings.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Submitter } from "./submitter.ts";
import type { CalledTask } from "../calls/queued-call.ts";
import type { BindEnd } from "../calls/caller-context.ts";
import type { PendingCall, Reject, Resolve } from "../calls/in-flight.ts";
import {
  DataCloneError,
  InvalidArgumentError,
  PayloadTooLargeError,
  StructError,
} from "../../errors.ts";
import { beginHere } from "../calls/caller-stack.ts";
import { dropArguments } from "../calls/feature.ts";
import { taskName, UNKNOWN_ROW } from "../calls/call-counts.ts";
import { withContext } from "../calls/with-context.ts";

/** Follows calls from when they are made until they are settled. */
export interface CallFollower {
  /** Makes a call by `submit`. Returns it unless it is over. */
  submit(
    task: string,
    resolve: Resolve,
    reject: Reject,
    submit: (resolve: Resolve, reject: Reject) => PendingCall | undefined,
    bindEnd?: BindEnd,
  ): PendingCall | undefined;
}

export interface CallEntryOptions {
  /** Whether anybody wants to follow calls at present. */
  readonly watched: { readonly hasSubscribers: boolean };
  readonly createFollower: () => CallFollower;
  readonly dispatcher: Dispatcher;
  /** Heddle's own folder, whose frames are left out of stacks. */
  readonly ownFolder: string | undefined;
  /** The option `context`: what each call carries to its worker. */
  readonly capture: (() => unknown) | undefined;
  /** Declared types of each task, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
  /** Names of tasks, by index. */
  readonly names: readonly { readonly name: string }[];
}

/** What is thrown for the arguments of a call. Other errors, as that of a closed pool, may be those of several calls. */
const OF_ARGUMENTS = [DataCloneError, InvalidArgumentError, PayloadTooLargeError, StructError];

export class CallEntry {
  readonly #options: CallEntryOptions;
  readonly #submitter: Submitter;
  readonly #watched: { readonly hasSubscribers: boolean };
  readonly #capture: (() => unknown) | undefined;
  /** Made for the first call that is followed. */
  #follower: CallFollower | undefined;

  constructor(options: CallEntryOptions) {
    this.#options = options;
    this.#submitter = options.dispatcher.submitter;
    this.#watched = options.watched;
    this.#capture = options.capture;
  }

  /** As `Submitter.submitPlain`, in a pool without the option `context`. */
  submitPlain(task: number, args: readonly unknown[], resolve: Resolve, reject: Reject): void {
    if (this.#watched.hasSubscribers) {
      this.submit(task, args, resolve, reject, PLAIN);
      return;
    }
    try {
      this.#submitter.submitPlain(task, args, resolve, reject);
    } catch (error) {
      throw this.#refused(error, task + 1);
    }
  }

  /** As `Submitter.submit`. `bindEnd`: of a call that does not end in the event loop. `own`: its name for observers, if not the task's. */
  submit(
    called: CalledTask,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
    bindEnd?: BindEnd,
    own?: string,
  ): PendingCall | undefined {
    const task = typeof called === "number" ? called : undefined;
    try {
      const sent = this.#capture === undefined ? args : this.carry(args, task);
      if (!this.#watched.hasSubscribers) {
        return this.#submitter.submit(called, sent, resolve, reject, settings);
      }
      const { names } = this.#options;
      const known = typeof called === "number" ? taskName(called + 1, names) : called.name;
      this.#follower ??= this.#options.createFollower();
      return this.#follower.submit(
        own ?? known!,
        resolve,
        reject,
        (onValue, onReason) => this.#submitter.submit(called, sent, onValue, onReason, settings),
        bindEnd,
      );
    } catch (error) {
      throw this.#refused(error, task === undefined ? UNKNOWN_ROW : task + 1);
    }
  }

  /** Counts a refused call. Returns its error, whose stack begins where the call was made if the error is of this call alone. */
  #refused(error: unknown, row: number): unknown {
    this.#options.dispatcher.inFlight.counts.refuse(row);
    if (OF_ARGUMENTS.some((kind) => error instanceof kind)) {
      beginHere(error as Error, this.#options.ownFolder);
    }
    return error;
  }

  /**
   * Arguments with the captured context as the last one, behind all that the task declares. `task`: undefined if it is not
   * known yet. Rethrows what `capture` throws.
   */
  carry(args: readonly unknown[], task: number | undefined): readonly unknown[] {
    if (this.#capture === undefined) return args;
    const declared = task === undefined ? undefined : this.#options.signatures[task]?.args;
    try {
      return withContext(args, this.#capture(), declared?.length ?? 0);
    } catch (error) {
      dropArguments(args);
      throw error;
    }
  }
}
