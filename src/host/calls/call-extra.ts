/** What a call carries that is not plain: its settings, and what features keep about it. A plain call has none of this. */
import type { Departure } from "../../realm/handles.ts";
import { type CallRun, type CallSettings, PLAIN } from "./call-settings.ts";
import type { QueuedCall } from "./queued-call.ts";

export type Resolve = (value: unknown) => void;
export type Reject = (reason: unknown) => void;

/** Wraps the callbacks of a call, as its first ones were wrapped by whoever follows it. */
export type Follow = (resolve: Resolve, reject: Reject) => readonly [Resolve, Reject];

/** What a feature keeps about a call. Its methods run no user code. They get the `PendingCall` that has the part. */
export interface CallPart {
  /** The call is over, for any reason. */
  onOver?(call: CallRun): void;
  /** The call is about to be settled without a response, and its task may go on. */
  onLeftRunning?(call: CallRun): void;
  /** The call is made again, with another id: its worker was lost. */
  onRenewed?(call: CallRun): void;
  /** True: the call cannot be made again. */
  readonly isOnce?: boolean;
  /** True: the host cannot run the task in place of a worker. */
  readonly needsWorker?: boolean;
}

/** The result stream of a call, as the parts of the host see it. */
export interface ItemSink {
  /** Whether the worker has begun to send it. */
  readonly isOpen: boolean;
  /** Whether its reader waits for an item, or for its end. */
  readonly isWaitedFor: boolean;
  /** Items that its reader has taken. */
  readonly taken: number;
  /** Runs no user code. */
  onItems(items: readonly unknown[], bytes: number): void;
  /** The call is about to be settled by its caller or a time limit: items that have arrived are not read. */
  drop(): void;
  /** The call is about to be rejected because its iterator was asked for items, or by an item. */
  isOfNext: boolean;
}

const NONE: CallPart[] = [];

/** What the call carries. Whoever makes it sets the settings: without a constructor a start compiles one function less. */
export class CallExtra {
  settings: CallSettings = PLAIN;
  /** Who follows the call, for callbacks that replace the first ones: those of a stream. */
  follow: Follow | undefined = undefined;
  /**
   * Its times, in milliseconds; -1: not yet. When a check of its limits first saw it, or when it was made if its task was not known
   * then; when a check saw it begun; when its stream was cancelled, if its worker is to be stopped a while later.
   */
  madeMs = -1;
  begunMs = -1;
  cancelledMs = -1;
  /** Whether something was heard of its task since the last check of its limits, and when a check last found that. */
  isHeard = false;
  heardMs = -1;
  /** Requests of its task that the host has not answered. */
  requests = 0;
  /** For making it again if its worker is lost or busy; and how often its worker was lost. */
  retryPayload: QueuedCall | undefined = undefined;
  retries = 0;
  /** Its result, if that is a stream; and who gets its events. */
  stream: ItemSink | undefined = undefined;
  onEvents: ((values: readonly unknown[]) => void) | undefined = undefined;
  /** Parts of its arguments that count as being on their way until it is over, at the longest. */
  departures: readonly Departure[] | undefined = undefined;
  /** The reader of its stream wants no more. */
  isCancelled = false;
  /** Nobody waits for its stream at present, so it does not keep the process running. */
  isIdle = false;
  /** Only this class and the end of the call change it. */
  parts: CallPart[] = NONE;

  /** Keeps a part from now on. */
  add(part: CallPart): void {
    const { parts } = this;
    if (parts.length === 0) this.parts = [part];
    else if (!parts.includes(part)) this.parts = [...parts, part];
  }

  /** The call needs a part no more. */
  remove(part: CallPart): void {
    this.parts = this.parts.filter((other) => other !== part);
  }

  /** The part of a class. */
  find<Part extends CallPart>(kind: abstract new (...args: never[]) => Part): Part | undefined {
    const { parts } = this;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      if (part instanceof kind) return part;
    }
    return undefined;
  }

  /** Whether the call may be made again. Items of a stream would come twice. */
  get mayRetry(): boolean {
    return this.stream?.isOpen !== true && !this.parts.some(({ isOnce }) => isOnce);
  }

  get needsWorker(): boolean {
    return this.settings.isBlocking || this.parts.some(({ needsWorker }) => needsWorker);
  }

  onLeftRunning(call: CallRun): void {
    for (const part of this.parts) part.onLeftRunning?.(call);
  }

  onRenewed(call: CallRun): void {
    this.begunMs = this.cancelledMs = this.heardMs = -1;
    this.requests = 0;
    for (const part of this.parts) part.onRenewed?.(call);
  }
}
