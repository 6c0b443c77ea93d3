/**
 * The host's side of a lane without shared memory.
 *
 * A call that was sent cannot be revoked, so few are sent: one at a time, or up to `maxSent` while all of them are known to be
 * short or async. While the worker takes no calls, none is sent. The others stay in the host's copy of the ring, from which they
 * can be revoked and given to another worker. A worker's message says when it has taken all calls that were sent to it, also if
 * it only waits for something of its own.
 */
import { IN_EVENT_LOOP, RUNNING } from "../../../../sync/worker-parking.ts";
import { REVOKED, STATE_MASK } from "../../../../ring/record-layout.ts";
import { CALL, DESCRIPTOR_WORD, kindOf, TASK_WORD } from "../../../../lane/frame.ts";
import {
  FOR_CALLS,
  IS_CLOSING,
  REQUEST_RING,
  responseRing,
  WAITS_FOR,
} from "../../../../lane/layout.ts";
import { type MirrorMessage, movedWith, WORKER_WORDS } from "../mirror-message.ts";
import { RingCopy } from "../records.ts";

export interface HostMirrorOptions {
  readonly memory: SharedArrayBuffer;
  readonly requestCapacity: number;
  /** The pool's estimates of its tasks, by task, and whether a call with this one may be sent with others. */
  readonly loads: Int32Array<SharedArrayBuffer>;
  readonly mayFollow: (load: number) => boolean;
  /** Most calls that the worker has not taken. */
  readonly maxSent: number;
  readonly post: (message: MirrorMessage, transfer: readonly unknown[]) => void;
  readonly microtask: (callback: () => void) => void;
  readonly coarseNow: () => number;
}

export class HostMirror {
  readonly #options: HostMirrorOptions;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #requests: RingCopy;
  readonly #responses: RingCopy;
  /** When the last message came, by the coarse clock. Undefined: none has. */
  heardMs: number | undefined = undefined;
  #isScheduled = false;
  #sentHead = 0;
  #sentClosing = 0;
  /** Calls sent since the worker had taken all. */
  #sentCalls = 0;
  /** Whether the last of them may be followed. */
  #mayFollow = false;
  readonly #flush = (): void => this.flush();
  readonly #maySend = (word: number): boolean => this.#isSendable(word);

  constructor(options: HostMirrorOptions) {
    const { memory, requestCapacity } = options;
    this.#options = options;
    this.#control = new Int32Array(memory, 0, REQUEST_RING / 4);
    this.#requests = new RingCopy(memory, REQUEST_RING);
    this.#responses = new RingCopy(memory, responseRing(requestCapacity));
  }

  /** As `Waker.state`: whether the worker has nothing to do, as far as is known. */
  get state(): number {
    return this.#requests.taken === this.#requests.head ? IN_EVENT_LOOP : RUNNING;
  }

  /** As `Waker.wake`: sends what was written, after the running code. */
  wake(): boolean {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#options.microtask(this.#flush);
    }
    return false;
  }

  /** As `Waker.repost`. */
  repost(): void {
    this.flush();
  }

  /** As `SpaceFlag`: the host has released space of the response ring. */
  take(): boolean {
    this.wake();
    return false;
  }

  raise(): void {} // each message of the worker makes the host look

  /** Sends what was written. */
  flush(): void {
    this.#isScheduled = false;
    if (this.#requests.taken === this.#requests.head) this.#sentCalls = 0;
    const records = this.#requests.take(this.#maySend, true);
    const { head } = this.#responses;
    const closing = Atomics.load(this.#control, IS_CLOSING);
    if (records === undefined && head === this.#sentHead && closing === this.#sentClosing) return;
    this.#sentHead = head;
    this.#sentClosing = closing;
    const message: MirrorMessage = { heddle: "mirror", head, records, closing };
    this.#options.post(message, movedWith(message));
  }

  receive({ head, records, words, loads }: MirrorMessage): void {
    this.heardMs = this.#options.coarseNow();
    this.#requests.head = head;
    // A process may be another version, or damaged.
    if (words?.length === WORKER_WORDS) this.#control.set(words, WAITS_FOR);
    if (loads !== undefined) {
      for (let at = 0; at + 1 < loads.length; at += 2) {
        this.#options.loads[loads[at]!] = loads[at + 1]!; // nothing happens beyond its end
      }
    }
    if (records !== undefined) this.#responses.put(records);
    this.flush();
  }

  /** The worker has ended, and had begun the records before this position, if that is known: the others can be revoked again. */
  recover(begun: number | undefined): void {
    if (begun !== undefined) this.#requests.recover(begun);
  }

  #isSendable(word: number): boolean {
    const { words } = this.#requests;
    const isRevoked = (words[word + 1]! & STATE_MASK) === REVOKED;
    if (isRevoked || kindOf(words[word + DESCRIPTOR_WORD]!) !== CALL) return true;
    if (Atomics.load(this.#control, WAITS_FOR) !== FOR_CALLS) return false;
    const mayFollow = this.#options.mayFollow(this.#options.loads[words[word + TASK_WORD]!]!);
    if (this.#sentCalls > 0 && !(mayFollow && this.#mayFollow)) return false;
    if (this.#sentCalls >= this.#options.maxSent) return false;
    this.#sentCalls++;
    this.#mayFollow = mayFollow;
    return true;
  }
}
