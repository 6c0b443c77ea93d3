/**
 * What happens to a call for the tracing channel "heddle:call" and for `debug`: both see a call when it is made and when it
 * is settled. Its promise settles one microtask later, so that subscribers never run inside heddle's own code; a call that
 * blocks tells them when its thread goes on.
 */
import { textOf } from "../../../../codec/kinds/errors.ts";
import type { CallStamps } from "../call-metrics.ts";
import type { TracingChannel } from "../../../../runtimes/runtime.ts";
import type { Dispatcher } from "../../../../host/dispatch/dispatcher.ts";
import type { Follow } from "../../../../host/calls/call-extra.ts";
import { DeferredPart } from "../../../../host/dispatch/deferred-calls.ts";
import {
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
  RUN_BY_HOST,
} from "../../../../host/calls/in-flight.ts";
import { stackHere } from "../../../../host/calls/caller-stack.ts";
import type { CallFollower } from "../../../../host/dispatch/call-entry.ts";
import { withCaller } from "./caller-frames.ts";
import { type BindEnd, bindOnce } from "../../../../host/calls/caller-context.ts";
import type { DebugLog } from "./debug-log.ts";

/** What subscribers of the channel get. */
interface CallMessage {
  readonly pool: string;
  readonly task: string;
  /** From "asyncStart" on: the worker's id; undefined: no worker had the call. */
  worker: number | undefined;
  /** Likewise, with `metrics: true`: time from the call until the task began, and its run time. */
  waitMs: number | undefined;
  runMs: number | undefined;
  result?: unknown;
  error?: unknown;
}

export interface CallObserverOptions {
  readonly channel: TracingChannel;
  readonly debug: DebugLog | undefined;
  readonly stamps: CallStamps | undefined;
  readonly pool: string;
  /** Heddle's own folder, whose frames are left out of stacks. */
  readonly ownFolder: string | undefined;
  readonly dispatcher: Dispatcher;
}

/** Makes the call. Returns it unless it is over. */
type Submit = (resolve: Resolve, reject: Reject) => PendingCall | undefined;

export class CallObserver implements CallFollower {
  readonly #options: CallObserverOptions;
  readonly #isDebugging: boolean;
  #calls = 0;

  constructor(options: CallObserverOptions) {
    this.#options = options;
    this.#isDebugging = options.debug !== undefined;
  }

  /** Makes a call and follows it. */
  submit(
    task: string,
    resolve: Resolve,
    reject: Reject,
    submit: Submit,
    bindEnd: BindEnd = bindOnce,
  ): PendingCall | undefined {
    const { channel, debug, stamps, pool, ownFolder } = this.#options;
    const message = messageOf(pool, task);
    const number = this.#calls++;
    const caller = this.#isDebugging ? stackHere(ownFolder) : "";
    const settleLater = bindEnd();
    let call: PendingCall | undefined;
    // Read before the slot is used again, which is not before the microtask.
    const onSettled = (): void => {
      if (call === undefined) return;
      if (call.lane >= 0) message.worker = call.lane;
      if (stamps !== undefined) Object.assign(message, stamps.timesOf(call.slot));
    };
    const finish = (outcome: () => string, settle: () => void, isRejected = false): void => {
      settleLater(() => {
        if (isRejected) channel.fail(message);
        channel.settle(message, settle);
      });
      if (debug?.calls === true) {
        debug.print(`call ${number} ${task} ${outcome()} ${placeOf(call)}`);
      }
    };
    const follow: Follow = (resolve, reject) => [
      (value) => {
        // A stream, which is the call from now on: the end of that is its own.
        if (call?.extra?.stream?.isOpen === true) return resolve(value);
        onSettled();
        message.result = value;
        finish(() => "resolved", () => resolve(value));
      },
      (reason) => {
        onSettled();
        const error = this.#isDebugging ? withCaller(reason, task, caller) : reason;
        message.error = error;
        finish(() => `rejected (${textOf(reason)})`, () => reject(error), true);
      },
    ];
    const [onResolved, onRejected] = follow(resolve, reject);
    const make = (): void => {
      // Not before: a subscriber may have called the pool.
      if (stamps !== undefined) stamps.isWanted = true;
      call = submit(onResolved, onRejected);
      call?.followBy(follow);
    };
    try {
      channel.begin(message, make);
      if (debug?.calls === true) debug.print(`call ${number} ${task} ${this.#describe(call)}`);
      return call;
    } finally {
      if (stamps !== undefined) stamps.isWanted = false;
    }
  }

  /** What became of a call that was just made. */
  #describe(call: PendingCall | undefined): string {
    if (call === undefined || call.resolve === undefined) return "is over";
    if (call.lane === RUN_BY_HOST) return "runs on the host";
    const { lanes, waiting } = this.#options.dispatcher;
    if (call.lane !== QUEUED_ON_HOST) {
      const others = (lanes.byId(call.lane)?.load.outstanding ?? 1) - 1;
      return `sent to worker ${call.lane}, which has ${others} others`;
    }
    const reason = lanes.open.length === 0
      ? "no worker is ready"
      : call.extra?.find(DeferredPart) !== undefined
      ? "arguments are promises"
      : call.settings.affinity !== undefined
      ? "its own worker cannot take it"
      : `no worker can take it; ${waiting.queued} calls wait`;
    return `waits on the host: ${reason}`;
  }
}

function messageOf(pool: string, task: string): CallMessage {
  return { pool, task, worker: undefined, waitMs: undefined, runMs: undefined };
}

function placeOf(call: PendingCall | undefined): string {
  if (call === undefined || call.lane === QUEUED_ON_HOST) return "before a worker had it";
  return call.lane === RUN_BY_HOST ? "on the host" : `by worker ${call.lane}`;
}
