/**
 * What threads know of each other for `heddle/shared`: words of every thread, behind its word of the AwakeCount, so that a worker
 * of a host that has not loaded `heddle/shared` can share data all the same.
 *
 *   word
 *   0    sync/awake-count.ts
 *   1    token     0→token: the thread itself or one below it, by compare-exchange, when one of them first shares data;
 *                  0→STOPPED: the thread that started it, by compare-exchange, when it stops it or hears of its end
 *   2    workers   the thread itself: living threads that it has started, and dead ones whose death is not marked
 *   3    has hooks the thread itself: 1 when it has loaded `heddle/shared`, unless a bundle did before it was known as a worker
 *   32   the root (shared/threads/root.ts), in those of the first thread: made by the first that shares data
 */
import type { Runtime } from "../runtimes/runtime.ts";

/** Words of a thread. */
export interface ThreadWords {
  readonly buffer: SharedArrayBuffer;
  readonly index: number;
}

export const TOKEN = 1;
export const WORKERS = 2;
export const HAS_HOOKS = 3;

/** In place of a token: the thread gets none any more. */
export const STOPPED: number = -1;

export const WORDS_BYTES = 128;
/** Bytes of the root, which the words of a first thread can grow by. */
export const ROOT_BYTES: number = 257 * 256;

/** What `heddle/shared` does for the thread that has started another one. */
export interface ThreadHooks {
  /** A thread has sent `body`; `reply` sends something back. */
  onMessage(body: unknown, reply: (body: unknown) => void): void;
  /** The thread with this token is being stopped by force. */
  onStop(token: number): void;
  /**
   * It has ended. `isCertain`: by itself, so nothing of it can run any more. `onMarked`: all threads know. `timers`: of its pool, which
   * run while this thread waits for one of that (`pool.sync`).
   */
  onEnd(
    token: number,
    isCertain: boolean,
    onMarked: () => void,
    timers: Pick<Runtime, "setTimeout">,
  ): void;
}

const KEY = Symbol.for("heddle.threads");

/** On `globalThis`, so that every copy of heddle in the thread finds it. Undefined: this thread has not loaded `heddle/shared`. */
export function threadHooks(): ThreadHooks | undefined {
  return (globalThis as { [KEY]?: ThreadHooks })[KEY];
}

export function setThreadHooks(hooks: ThreadHooks): void {
  Object.defineProperty(globalThis, KEY, { value: hooks });
}

/** A thread with these words gets no token from now on. The one that it has; 0: none. */
export function refuseToken({ buffer, index }: ThreadWords): number {
  const words = new Int32Array(buffer);
  const token = Atomics.compareExchange(words, index + TOKEN, 0, STOPPED);
  return token === STOPPED ? 0 : token;
}
