/**
 * Sends responses. When the response ring is full, keeps them in a backlog, in order.
 *
 * While there is a backlog the worker accepts no further calls. The backlog is bounded, since only async
 * tasks in flight can add to it and `maxConcurrency` bounds those.
 */
import { Error } from "../builtins.ts";
import type { Encoder } from "../codec/encoder.ts";
import type { DeclaredValues } from "../codec/declared.ts";
import { isError, textOf } from "../codec/kinds/errors.ts";
import type { Endpoint } from "../lane/endpoint.ts";
import { type Kind, RESULT, RESULT_NUMBER, RESULT_VALUE, THROWN } from "../lane/frame.ts";
import { DataCloneError } from "../errors.ts";
import { detached, type Snapshot } from "../lane/snapshot.ts";
import { IS_CLOSING, RESPONSE_BACKLOG, STOPPED } from "../lane/layout.ts";
import { UNSIZED } from "../lane/sized-values.ts";
import type { HostWaker } from "../sync/host-parking.ts";
import type { SpaceFlag } from "../sync/space-flag.ts";
import { seams } from "./feature.ts";
import type { WorkerTask } from "./task.ts";

/** Time between two looks for room. */
const WAIT_MS = 1;

/** What a feature sends of its own. */
interface Optional {
  /** If the port refuses an object of it, it is left out and its call goes on. Otherwise an error takes its place and ends the call. */
  readonly isOptional?: boolean;
  /** Called then. */
  readonly onRefused?: ((error: unknown) => void) | undefined;
}

/** A response that waits for room, or is sent. */
export interface Reply extends Optional {
  kind: Kind;
  readonly slot: number;
  readonly generation: number;
  /** The task's index, for results of a declared shape; OF_RETURN; what a feature has chosen. */
  word: number;
  snapshot: Snapshot;
  /** This response replaces one that cannot be sent, and gives the reason. */
  isSubstitute?: boolean;
}

export class Replies {
  /** Responses, batches and events that wait for room. Only this class writes it. */
  waiting = 0;
  /** Whether tasks may return what `seams.results` knows. */
  hasResults = true;
  /** Called when the backlog has become empty. */
  onFlushed: () => void = () => {};
  readonly #endpoint: Endpoint;
  readonly #hostWaker: Pick<HostWaker, "wake">;
  readonly #spaceFlag: Pick<SpaceFlag, "raise">;
  readonly #requestSpaceFlag: Pick<SpaceFlag, "take">;
  readonly #control: Int32Array<SharedArrayBuffer>;
  #backlog: Reply[] = [];

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

  /** Sends a result. False: it cannot be cloned, but a feature sends it. */
  result(
    slot: number,
    generation: number,
    value: unknown,
    task?: Pick<WorkerTask, "index" | "signature" | "instead">,
  ): boolean {
    const endpoint = this.#endpoint;
    const returns = task?.signature?.returns;
    try {
      if (returns === undefined && this.waiting === 0) {
        // Straight into the record: a number, or a value whose size is known.
        let isSent = false;
        if (typeof value === "number") {
          isSent = endpoint.sendNumber(slot, generation, RESULT_NUMBER, 0, value);
        } else {
          const bytes = endpoint.sized.roomForOne(value);
          isSent = bytes !== UNSIZED &&
            endpoint.sendSizedOne(bytes, RESULT_VALUE, slot, generation, 0, value);
        }
        if (isSent) {
          this.#hostWaker.wake();
          return true;
        }
      }
      const word = returns === undefined ? 0 : task!.index;
      this.#encode(RESULT, slot, generation, value, word, returns);
    } catch (error) {
      // It cannot be cloned, or a getter threw.
      const isOther = error instanceof DataCloneError && this.hasResults &&
        seams.results?.is(value) === true;
      if (isOther) return false;
      const other = task?.instead?.(value, error);
      if (other !== undefined) return this.result(slot, generation, other);
      this.thrown(slot, generation, error);
    }
    return true;
  }

  /**
   * The task threw: an error by its fields, anything else as it is. Errors that tasks throw because this thread is being stopped are not sent.
   * `word`: OF_RETURN or 0.
   */
  thrown(slot: number, generation: number, reason: unknown, word = 0): void {
    if (this.isStopped) return; // SYNC(stopped): the call ends with the worker. Pairs with ThreadLane.#stop.
    try {
      this.#encode(THROWN, slot, generation, reason, word);
    } catch (error) {
      // The error cannot be encoded, but its text can.
      this.#encode(
        THROWN,
        slot,
        generation,
        isError(reason) ? withTextOf(reason) : errorOf(error),
        word,
      );
    }
  }

  /**
   * Sends `count` values that an encoder has written up to `end`: now, or when there is room. `word`: as in `Reply`.
   */
  write(
    encoder: Encoder,
    end: number,
    count: number,
    kind: Kind,
    slot: number,
    generation: number,
    word: number,
    optional?: Optional,
  ): void {
    const endpoint = this.#endpoint;
    const { snapshots } = endpoint;
    if (
      this.waiting === 0 && snapshots.isInline(encoder, end) && endpoint.announceKeyLists() &&
      endpoint.sendEncoded(encoder, end, kind, slot, generation, word, count)
    ) {
      this.#hostWaker.wake();
      return;
    }
    this.#wakeIfAnnounced();
    const snapshot = snapshots.take(encoder, end, count, true);
    this.send({ kind, slot, generation, word, snapshot, ...optional });
  }

  /** Sends a response when there is room, in order. */
  send(reply: Reply): void {
    if (this.waiting === 0 && this.#trySend(reply)) return;
    reply.snapshot = detached(reply.snapshot);
    this.#backlog.push(reply);
    this.#publishBacklog();
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

  /**
   * Waits with this thread until at most `max` responses wait for room. False: the host stops this worker, and reads nothing.
   */
  flushNow(max: number): boolean {
    const sleep = new Int32Array(new SharedArrayBuffer(4));
    while (this.waiting > max && !this.flush()) {
      if (this.isStopped) return false;
      Atomics.wait(sleep, 0, 0, WAIT_MS);
    }
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
  #encode(
    kind: typeof RESULT | typeof THROWN,
    slot: number,
    generation: number,
    value: unknown,
    word: number,
    returns?: DeclaredValues,
  ): void {
    const { snapshots } = this.#endpoint;
    const encoder = snapshots.codec.acquire();
    try {
      const end = kind === THROWN && isError(value)
        ? snapshots.encodeError(encoder, value)
        : snapshots.encodeResult(encoder, value, returns);
      this.write(encoder, end, 1, kind, slot, generation, word);
    } finally {
      snapshots.codec.release(encoder);
    }
  }

  /** Wakes the host if key lists were announced: it reads them even if no response follows for now. */
  #wakeIfAnnounced(): void {
    if (this.#endpoint.takePendingWake()) this.#hostWaker.wake();
  }

  #publishBacklog(): void {
    // SYNC(backlog): a thread that sees 0 finds all earlier responses in the ring. Pairs with Lane.hasBacklog. Needs release.
    this.waiting = this.#backlog.length;
    Atomics.store(this.#control, RESPONSE_BACKLOG, this.waiting);
  }

  #trySend(reply: Reply): boolean {
    const endpoint = this.#endpoint;
    const { kind, slot, generation, word, snapshot } = reply;
    try {
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
      endpoint.tx.abort();
      if (reply.isOptional === true) {
        reply.onRefused?.(error);
        return true;
      }
      this.#endCall(reply);
      reply.isSubstitute = true;
      reply.kind = THROWN;
      reply.word = 0;
      reply.snapshot = endpoint.snapshots.captureError(errorOf(error));
      return this.#trySend(reply);
    }
    this.#hostWaker.wake();
    return true;
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
}

const withTextOf = (reason: unknown): Error => new Error(textOf(reason));

/** What was thrown, as an error. */
const errorOf = (thrown: unknown): Error => isError(thrown) ? thrown : withTextOf(thrown);
