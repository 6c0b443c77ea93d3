/**
 * How the host parks and is woken: one shared word per pool, seen by all its workers.
 *
 *   0 AWAKE    the host polls the response rings
 *   1 PARKED   the host is in its event loop; the next worker to commit a response posts a message
 *   2 BLOCKED  the host is inside `Atomics.wait` on this word (`pool.sync`); the next worker notifies it
 *
 * Edges: 0 → 1 and 0 → 2 the host, by a store; 1 → 0 and 2 → 0 the host or any one worker, by compare-exchange. The
 * worker that wins the exchange posts one wake message, or notifies: at most once per park, exactly once if the
 * first response finds the host parked. Nothing waits on this word by `Atomics.waitAsync`.
 *
 * No wake is lost, by the same argument as in `worker-parking.ts`: the host stores PARKED, then re-checks
 * every response ring; a worker commits its response, then loads this word. Both are seq-cst
 * store-then-load, so at least one of them sees the other.
 *
 * A host without calls in flight may leave PARKED there. The next call is committed after that store, and its
 * worker reads the call before it loads this word, so it sees PARKED and posts. The host does
 * not re-read the word: it assumes PARKED until a message arrives or it withdraws the announcement itself.
 */
const AWAKE = 0;
const PARKED = 1;
const BLOCKED = 2;

/** The host's side. */
export class HostParker {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  constructor(words: Int32Array<SharedArrayBuffer>, index: number) {
    this.#words = words;
    this.#index = index;
  }

  /** Announces the park. Re-check every response ring after this. */
  announce(): void {
    // SYNC(host-parked): pairs with HostWaker.wake. Needs seq-cst.
    Atomics.store(this.#words, this.#index, PARKED);
  }

  /** Withdraws the announcement. False: a worker has already cleared the word, so a message is on its way. */
  cancel(): boolean {
    return Atomics.compareExchange(this.#words, this.#index, PARKED, AWAKE) === PARKED;
  }

  /** Announces a block. The same re-check follows, then `block` or `cancelBlock`. */
  announceBlock(): void {
    // SYNC(host-parked): pairs with HostWaker.wake. Needs seq-cst.
    Atomics.store(this.#words, this.#index, BLOCKED);
  }

  /** Withdraws that announcement. */
  cancelBlock(): void {
    Atomics.compareExchange(this.#words, this.#index, BLOCKED, AWAKE);
  }

  /** Blocks until a worker has something for the host, or `timeoutMs` have passed. */
  block(timeoutMs: number): void {
    Atomics.wait(this.#words, this.#index, BLOCKED, timeoutMs);
    this.cancelBlock();
  }

  get isAnnounced(): boolean {
    return Atomics.load(this.#words, this.#index) === PARKED;
  }
}

/** A worker's side. */
export class HostWaker {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;
  readonly #post: (message: unknown) => void;
  readonly #message: unknown;

  /** `post` sends `message`, which makes the host's event loop poll. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    index: number,
    post: (message: unknown) => void,
    message?: unknown,
  ) {
    this.#words = words;
    this.#index = index;
    this.#post = post;
    this.#message = message;
  }

  /** Call after committing a response. */
  wake(): void {
    // SYNC(host-parked): pairs with HostParker.announce and `announceBlock`. Needs seq-cst.
    const state = Atomics.load(this.#words, this.#index);
    if (state === AWAKE) return;
    if (Atomics.compareExchange(this.#words, this.#index, state, AWAKE) !== state) return;
    if (state === PARKED) this.#post(this.#message);
    else Atomics.notify(this.#words, this.#index, 1);
  }
}

/** Wakes a host that blocks. For what reaches a host in its event loop by a message of its own. Call after publishing it. */
export function wakeBlockedHost(words: Int32Array<SharedArrayBuffer>, index: number): void {
  // SYNC(host-parked): as HostWaker.wake.
  if (Atomics.compareExchange(words, index, BLOCKED, AWAKE) === BLOCKED) {
    Atomics.notify(words, index, 1);
  }
}
