/** The worker's side of a lane without shared memory (`mirror-message.ts`). */
import { Set } from "../../../../builtins.ts";
import { CALL, DESCRIPTOR_WORD, kindOf, TASK_WORD } from "../../../../lane/frame.ts";
import {
  IS_CLOSING,
  LIFE,
  REQUEST_RING,
  RESPONSE_BACKLOG,
  responseRing,
  WAITS_FOR,
} from "../../../../lane/layout.ts";
import { type MirrorMessage, movedWith, WORKER_WORDS } from "../mirror-message.ts";
import { RingCopy } from "../records.ts";

/**
 * Longest time for which responses of short tasks wait for others, to share a message. The next call runs meanwhile: if it takes
 * long unexpectedly, they wait as long. Fitted on two cores (docs/internals/browsers.md).
 */
const GATHERED_MS = 0.1;

export interface WorkerMirrorOptions {
  readonly memory: SharedArrayBuffer;
  readonly requestCapacity: number;
  readonly loads: Int32Array<SharedArrayBuffer>;
  readonly post: (message: MirrorMessage, transfer: readonly unknown[]) => void;
  readonly now: () => number;
}

export class WorkerMirror {
  readonly #options: WorkerMirrorOptions;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #requests: RingCopy;
  readonly #responses: RingCopy;
  /** Whether calls wait that are known to be short or async: one that is not is sent alone. */
  hasMore: () => boolean = () => false;
  /** Publishes the space that the worker has released in its copy of the request ring. */
  publish: () => void = () => {};
  #sentHead = 0;
  /** What the host reads of the worker's words, as it was sent. */
  #sentState = "";
  #sentMs = -Infinity;
  /** Tasks that were called, and their estimates as the host knows them. */
  readonly #called = new Set<number>();
  readonly #known: Int32Array;

  constructor(options: WorkerMirrorOptions) {
    const { memory, requestCapacity, loads } = options;
    this.#options = options;
    this.#control = new Int32Array(memory, 0, REQUEST_RING / 4);
    this.#requests = new RingCopy(memory, REQUEST_RING);
    this.#responses = new RingCopy(memory, responseRing(requestCapacity));
    this.#known = new Int32Array(loads.length);
  }

  /** As `HostWaker.wake`: a response was committed. */
  wake(): void {
    if (this.hasMore() && this.#options.now() - this.#sentMs < GATHERED_MS) return;
    this.flush();
  }

  /** As `SpaceFlag`: calls were taken, or the worker parks. */
  take(): boolean {
    this.flush();
    return false;
  }

  raise(): void {} // each message of the host makes the worker look

  flush(): void {
    const { post, now } = this.#options;
    this.publish();
    const records = this.#responses.take(takeAll, false);
    const { head } = this.#requests;
    const control = this.#control;
    const state = `${control[WAITS_FOR]} ${control[RESPONSE_BACKLOG]} ${control[LIFE]}`;
    if (records === undefined && head === this.#sentHead && state === this.#sentState) return;
    this.#sentHead = head;
    this.#sentState = state;
    this.#sentMs = now();
    const words = control.slice(WAITS_FOR, WAITS_FOR + WORKER_WORDS);
    const loads = this.#newLoads();
    const message: MirrorMessage = { heddle: "mirror", head, records, words, loads };
    post(message, movedWith(message));
  }

  receive({ head, records, closing }: MirrorMessage): void {
    this.#responses.head = head;
    if (closing !== undefined) Atomics.store(this.#control, IS_CLOSING, closing);
    if (records === undefined) return;
    for (let at = 0; at < records.length; at += Math.max(2, records[at]! >> 2)) {
      const isCall = records[at]! > 0 && kindOf(records[at + DESCRIPTOR_WORD]!) === CALL;
      if (isCall) this.#called.add(records[at + TASK_WORD]!);
    }
    this.#requests.put(records);
  }

  #newLoads(): readonly number[] {
    const { loads } = this.#options;
    const changed: number[] = [];
    for (const task of this.#called) {
      if (loads[task] === this.#known[task]) continue;
      this.#known[task] = loads[task]!;
      changed.push(task, loads[task]!);
    }
    return changed;
  }
}

const takeAll = (): boolean => true;
