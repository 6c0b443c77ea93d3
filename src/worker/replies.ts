/**
 * Sends responses. When the response ring is full, keeps them in a backlog, in order.
 *
 * While there is a backlog the worker accepts no further calls. The backlog is bounded, since only async
 * tasks in flight can add to it and `maxConcurrency` bounds those.
 */
import { Error } from "../builtins.ts";
import type { Encoder } from "../codec/encoder.ts";
import type { Signature } from "../codec/declared.ts";
import { isError, textOf } from "../codec/kinds/errors.ts";
import type { Endpoint } from "../lane/endpoint.ts";
import { type Kind, RESULT, RESULT_NUMBER, RESULT_VALUE, THROWN } from "../lane/frame.ts";
import { DataCloneError } from "../errors.ts";
import { detached, type Snapshot } from "../lane/snapshot.ts";
import { IS_CLOSING, RESPONSE_BACKLOG, STOPPED } from "../lane/layout.ts";
import { UNSIZED } from "../lane/sized-values.ts";
import type { HostWaker } from "../sync/host-parking.ts";
import type { SpaceFlag } from "../sync/space-flag.ts";

/** The properties of a task that its response needs. */
interface AnsweredTask {
  readonly index: number;
  readonly signature: Signature | undefined;
}

/** Time between two looks for room. */
const WAIT_MS = 1;

/** A response that waits for room, or is sent. */
export interface Reply {
  kind: Kind;
  readonly slot: number;
  readonly generation: number;
  /** The task's index, for results of a declared shape; OF_RETURN; what a feature has chosen. */
  word: number;
  snapshot: Snapshot;
  /** This response replaces one that cannot be sent, and gives the reason. */
  isSubstitute?: boolean;
  /** If the port refuses an object of it, it is left out and its call goes on. Otherwise an error takes its place and ends the call. */
  readonly isOptional?: boolean;
  /** Called then. */
  readonly onRefused?: ((error: unknown) => void) | undefined;
}

export class Replies {
  readonly #endpoint: Endpoint;
  readonly #hostWaker: Pick<HostWaker, "wake">;
  readonly #spaceFlag: Pick<SpaceFlag, "raise">;
  readonly #requestSpaceFlag: Pick<SpaceFlag, "take">;
  readonly #control: Int32Array<SharedArrayBuffer>;
  /** Responses, batches and events that wait for room. Only this class writes it. */
  waiting = 0;
  #backlog: Reply[] = [];
  readonly #sleep = new Int32Array(new SharedArrayBuffer(4));
  /** Whether a feature sends a result that cannot be cloned. */
  isOther: ((value: unknown) => boolean) | undefined = undefined;
  /** Called when the backlog has become empty. */
  onFlushed: () => void = () => {};

  constructor(
    endpoint: Endpoint,
    hostWaker: Pick<HostWaker, "wake">,
    spaceFlag: Pick<SpaceFlag, "raise">,
    requestSpaceFlag: Pick<SpaceFlag, "take">,
    control: Int32Array<SharedArrayBuffer>,
  ) {
    this.#endpoint = endpoint;
    this.#hostWaker = hostWaker;
    this.#spaceFlag = spaceFlag;
    this.#requestSpaceFlag = requestSpaceFlag;
    this.#control = control;
  }

  /** Whether the host stops this worker's thread, and reads no further responses. */
  get isStopped(): boolean {
    return Atomics.load(this.#control, IS_CLOSING) === STOPPED;
  }

  /** Whether the oldest response of the backlog would fit now. */
  get hasSpace(): boolean {
    const hasSpace = this.#endpoint.hasSpaceFor(this.#backlog[0]!.snapshot);
    this.#wakeIfAnnounced();
    return hasSpace;
  }

  /** Sends a result that is a number, of no declared shape. False: there is no room, or others wait. */
  number(slot: number, generation: number, value: number): boolean {
    if (this.waiting > 0) return false;
    if (!this.#endpoint.sendNumber(slot, generation, RESULT_NUMBER, 0, value)) return false;
    this.#hostWaker.wake();
    return true;
  }

  /** Sends a result. False: it cannot be cloned, but a feature sends it. */
  result(slot: number, generation: number, value: unknown, task?: AnsweredTask): boolean {
    if (
      typeof value === "number" && task?.signature === undefined &&
      this.number(slot, generation, value)
    ) {
      return true;
    }
    try {
      this.#respond(RESULT, slot, generation, value, task);
    } catch (error) {
      // It cannot be cloned, or a getter threw.
      if (error instanceof DataCloneError && this.isOther?.(value) === true) return false;
      this.thrown(slot, generation, error);
    }
    return true;
  }

  /** Sends what is encoded, for a feature. False: it has to be taken, and sent by `send`. */
  trySendEncoded(
    encoder: Encoder,
    end: number,
    count: number,
    { kind, slot, generation, word }: Omit<Reply, "snapshot">,
  ): boolean {
    const endpoint = this.#endpoint;
    const isSent = this.waiting === 0 && endpoint.snapshots.isInline(encoder, end) &&
      endpoint.announceKeyLists() &&
      endpoint.sendEncoded(encoder, end, kind, slot, generation, word, count);
    if (isSent) this.#hostWaker.wake();
    else this.#wakeIfAnnounced();
    return isSent;
  }

  /** Sends a response when there is room, in order. */
  send(reply: Reply): void {
    if (this.waiting === 0 && this.#trySend(reply)) return;
    reply.snapshot = detached(reply.snapshot);
    this.#backlog.push(reply);
    this.#publishBacklog();
  }

  /**
   * Waits with this thread until at most `max` responses wait for room. False: the host stops this worker, and reads nothing.
   */
  flushNow(max: number): boolean {
    while (this.waiting > max && !this.flush()) {
      if (this.isStopped) return false;
      Atomics.wait(this.#sleep, 0, 0, WAIT_MS);
    }
    return true;
  }

  /**
   * The task threw: an error by its fields, anything else as it is. Errors that tasks throw because this thread is being stopped are not sent.
   * `word`: OF_RETURN or 0.
   */
  thrown(slot: number, generation: number, reason: unknown, word = 0): void {
    if (this.isStopped) return; // SYNC(stopped): the call ends with the worker. Pairs with ThreadLane.#terminate.
    try {
      this.#respond(THROWN, slot, generation, reason, undefined, word);
    } catch (error) {
      // The error cannot be encoded, but its text can.
      const sent = isError(reason) ? new Error(textOf(reason)) : error;
      const known = isError(sent) ? sent : new Error(textOf(sent));
      this.#respond(THROWN, slot, generation, known, undefined, word);
    }
  }

  /** Sends the responses in the backlog while there is room. True: the backlog is empty. */
  flush(): boolean {
    let sent = 0;
    while (sent < this.#backlog.length && this.#trySend(this.#backlog[sent]!)) sent++;
    this.#backlog.splice(0, sent);
    this.#publishBacklog();
    if (this.#backlog.length > 0) return false;
    this.onFlushed();
    return true;
  }

  /** Wakes the host if it waits for room in the request ring. Call after publishing released space. */
  wakeForSpace(): void {
    if (this.#requestSpaceFlag.take()) this.#hostWaker.wake();
  }

  /** Requests a wake from the host when there is room. Call between announcing a park and the re-check. */
  requestSpace(): void {
    if (this.waiting > 0) this.#spaceFlag.raise();
  }

  /** Encoding runs the value's getters, so this rethrows their errors. */
  #respond(
    kind: typeof RESULT | typeof THROWN,
    slot: number,
    generation: number,
    value: unknown,
    task?: AnsweredTask,
    word = 0,
  ): void {
    const returns = task?.signature?.returns;
    const hasBacklog = this.waiting > 0;
    const { snapshots, sized } = this.#endpoint;
    if (kind === RESULT && returns === undefined && !hasBacklog) {
      const bytes = sized.roomForOne(value);
      const endpoint = this.#endpoint;
      if (
        bytes !== UNSIZED &&
        endpoint.sendSizedOne(bytes, RESULT_VALUE, slot, generation, 0, value)
      ) {
        this.#hostWaker.wake();
        return;
      }
    }
    const index = returns === undefined ? word : task!.index;
    const encoder = snapshots.codec.acquire();
    let snapshot: Snapshot;
    try {
      const end = kind === THROWN && isError(value)
        ? snapshots.encodeError(encoder, value)
        : snapshots.encodeResult(encoder, value, returns);
      const isSent = !hasBacklog && snapshots.isInline(encoder, end) &&
        this.#endpoint.announceKeyLists() &&
        this.#endpoint.sendEncoded(encoder, end, kind, slot, generation, index, 1);
      if (isSent) {
        this.#hostWaker.wake();
        return;
      }
      this.#wakeIfAnnounced();
      snapshot = snapshots.take(encoder, end, 1, true);
    } finally {
      snapshots.codec.release(encoder);
    }
    this.send({ kind, slot, generation, word: index, snapshot });
  }

  /** Wakes the host if key lists were announced: it reads them even if no response follows for now. */
  #wakeIfAnnounced(): void {
    if (this.#endpoint.takePendingWake()) this.#hostWaker.wake();
  }

  /** An error takes the place of a response and ends its call: what the backlog has for it after that is dropped. */
  #endCall(refused: Reply): void {
    const { slot, generation, onRefused } = refused;
    onRefused?.(undefined);
    const at = this.#backlog.indexOf(refused);
    if (at < 0) return;
    // `flush` counts the responses up to this one, batches of this stream among them.
    this.#backlog = this.#backlog.filter((reply, index) =>
      index <= at || reply.slot !== slot || reply.generation !== generation
    );
  }

  #publishBacklog(): void {
    // SYNC(backlog): a thread that sees 0 finds all earlier responses in the ring. Pairs with Lane.hasBacklog. Needs release.
    this.waiting = this.#backlog.length;
    Atomics.store(this.#control, RESPONSE_BACKLOG, this.waiting);
  }

  #trySend(reply: Reply): boolean {
    const { kind, slot, generation, word, snapshot } = reply;
    try {
      const endpoint = this.#endpoint;
      if (
        !endpoint.announceKeyLists() ||
        !endpoint.sendSnapshot(kind, slot, generation, word, snapshot)
      ) {
        this.#wakeIfAnnounced();
        return false;
      }
    } catch (error) {
      // A runtime may refuse to post a value that it could clone. An error replaces the refused value and
      // usually needs no port; if sending the error fails too, the loop ends the worker.
      if (reply.isSubstitute === true) throw error;
      const { tx, snapshots } = this.#endpoint;
      tx.abort();
      if (reply.isOptional === true) {
        reply.onRefused?.(error);
        return true;
      }
      this.#endCall(reply);
      reply.isSubstitute = true;
      reply.kind = THROWN;
      reply.word = 0;
      reply.snapshot = snapshots.captureError(isError(error) ? error : new Error(textOf(error)));
      return this.#trySend(reply);
    }
    this.#hostWaker.wake();
    return true;
  }
}
