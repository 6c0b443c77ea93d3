/**
 * This thread among those that share data: its token, its visits, and how it waits.
 *
 * One object for all copies of heddle in the thread: its words have one writer.
 */
import { Error } from "../../builtins.ts";
import { DeadlockError } from "../../errors.ts";
import { SharedAccessError, WaitTimeoutError } from "../../shared-errors.ts";
import { workerRealm } from "../../realm/worker-realm.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { VERSION } from "../../version.ts";
import type { Condition } from "./condition.ts";
import { LoopWaits } from "./loop-waits.ts";
import { BLOCKED, FENCE_STEP_MS, indexOf, Root, wordsOf } from "./root.ts";

/** Checks of a condition before its thread blocks: some microseconds, in which a thread on another core may change it. */
const SPINS = 200;

export class ThisThread {
  readonly version: string = VERSION;
  readonly root: Root;
  readonly token: number;
  readonly index: number;
  readonly runtime: Runtime;
  readonly loop: LoopWaits;
  /** Living threads that this one has started. */
  children = 0;
  /** Calls of `lock` and `acquire` that wait in the event loop. */
  pendingLocks = 0;
  readonly #isWorker: boolean;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #waits: number;
  readonly #sync: number;
  readonly #visits: number;
  /** No thread wakes one that waits for this word. */
  readonly #nobody = new Int32Array(new SharedArrayBuffer(4));
  #depth = 0;

  constructor(root: Root, token: number, isWorker: boolean, runtime: Runtime) {
    this.root = root;
    this.token = token;
    this.index = indexOf(token);
    this.runtime = runtime;
    this.#isWorker = isWorker;
    this.#words = root.words;
    const { waits, sync, visits } = wordsOf(this.index);
    this.#waits = waits;
    this.#sync = sync;
    this.#visits = visits;
    this.loop = new LoopWaits({ words: root.words, index: this.index, runtime });
  }

  /** Throws if this thread was stopped and goes on running all the same (Deno). */
  checkLife(): void {
    if (!this.root.isEntitled(this.token)) {
      throw new SharedAccessError(
        "This thread was stopped: it may not touch shared data any more.",
      );
    }
  }

  /** From here to `leave`, memory to which the words of a map lead is used for nothing else. May be nested. */
  enter(): void {
    if (this.#depth === 0) {
      this.checkLife(); // first: another thread may have this record by now
      const words = this.#words;
      // SYNC(shared-visit): a store, then the words of the map; pairs with `Arena`'s grace period. Needs seq-cst.
      Atomics.store(words, this.#visits, (words[this.#visits]! + 1) | 0);
    }
    this.#depth++;
  }

  leave(): void {
    if (--this.#depth > 0) return;
    const words = this.#words;
    if (!this.root.isEntitled(this.token)) return;
    Atomics.store(words, this.#visits, (words[this.#visits]! + 1) | 0);
  }

  /** Whether it is between `enter` and `leave`. */
  get isInside(): boolean {
    return this.#depth > 0;
  }

  /** A monotonic clock that all threads of the process share, in milliseconds. */
  get nowMs(): number {
    return this.runtime.now() + this.runtime.originMs;
  }

  /** Calls back when nothing of a thread that was fenced runs any more. Does not keep the process running. */
  whenGone(token: number, callback: () => void): void {
    const check = (): void => {
      if (this.root.isGone(token, this.nowMs)) callback();
      else this.whenGone(token, callback);
    };
    this.runtime.setTimeout(check, FENCE_STEP_MS).unref();
  }

  /** Pauses for a millisecond if the thread may block, for some microseconds otherwise. */
  rest(): void {
    if (this.mayBlock) Atomics.wait(this.#nobody, 0, 0, 1);
    else for (let spin = 0; spin < SPINS; spin++) this.runtime.pause();
  }

  /** Whether this thread may block: others need its event loop to learn of the end of threads that it has started. */
  get mayBlock(): boolean {
    return this.#isWorker && this.children === 0;
  }

  /** Throws if this thread may not block. */
  checkMayBlock(method: string): void {
    if (this.mayBlock) return;
    const who = this.#isWorker ? "a worker that has workers of its own" : "the main thread";
    throw new SharedAccessError(
      `${method}() blocks its thread, and ${who} has to answer others: use the method without "Sync", or the one with "try".`,
    );
  }

  /**
   * Blocks until the condition holds. Throws WaitTimeoutError, whose message begins with `name`, and DeadlockError if it would block while a
   * lock may be given to this thread's event loop.
   */
  blockUntil(condition: Condition, name: string, timeoutMs: number = Infinity): void {
    this.checkLife();
    const { now, pause } = this.runtime;
    let hasLeft = false;
    try {
      for (let spin = 0; spin < SPINS; spin++) {
        if (condition.check()) return;
        pause();
      }
      if (this.pendingLocks > 0) {
        throw new DeadlockError(
          "This thread waits for a lock in its event loop, and would hold it up if it got it while it is blocked: await that first.",
        );
      }
      if (this.#block(condition, now() + timeoutMs)) return;
      hasLeft = true;
      if (condition.leave?.() !== true) throw new WaitTimeoutError(name, timeoutMs);
    } finally {
      if (!hasLeft) condition.leave?.();
    }
  }

  #block(condition: Condition, endMs: number): boolean {
    const words = this.#words;
    let isMine = true;
    try {
      for (;;) {
        // In the loop: a check may block as well, and clears the bit then.
        Atomics.or(words, this.#waits, BLOCKED);
        // SYNC(shared-wait): `waits`, this load, then the check; pairs with `Root.wake`. Needs seq-cst.
        const seen = Atomics.load(words, this.#sync);
        if (condition.check()) return true;
        const leftMs = endMs - this.runtime.now();
        if (leftMs <= 0) return false;
        Atomics.or(words, this.#waits, BLOCKED);
        Atomics.wait(words, this.#sync, seen, leftMs);
        isMine = this.root.isEntitled(this.token); // otherwise the words may belong to another thread by now
        this.checkLife();
      }
    } finally {
      if (isMine) Atomics.and(words, this.#waits, ~BLOCKED);
    }
  }
}

const KEY = Symbol.for("heddle.shared.thread");

let runtime: Runtime | undefined;

/** Called once by `enter.ts`, the only file here that knows the runtime. */
export function setRuntime(current: Runtime): void {
  runtime = current;
}

/** This thread. In a worker, its host has to have loaded `heddle/shared` before it created the pool. */
export function thisThread(): ThisThread {
  const global = globalThis as { [KEY]?: ThisThread };
  const known = global[KEY];
  if (known !== undefined) {
    if (known.version === VERSION) return known;
    throw new Error(`heddle ${known.version} and ${VERSION} cannot share data in one thread.`);
  }
  const realm = workerRealm();
  if (realm !== undefined && realm.shared === undefined) {
    throw new SharedAccessError(
      'This worker cannot share data: import "heddle/shared" in the thread that creates its pool, before it does.',
    );
  }
  const root = realm?.shared === undefined ? Root.create() : new Root(realm.shared.start.root);
  const token = realm?.shared?.start.token ?? root.begin(0);
  const made = new ThisThread(root, token, realm !== undefined, runtime!);
  Object.defineProperty(globalThis, KEY, { value: made });
  return made;
}
