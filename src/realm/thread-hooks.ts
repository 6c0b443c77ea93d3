/**
 * What `heddle/shared` has to do with the threads that pools start. It is on `globalThis`, so that every copy of heddle in the
 * thread finds it; a program that does not load `heddle/shared` pays one look for each thread it starts.
 */

/** What a thread gets with its start data (shared/threads/root.ts). */
export interface SharedStart {
  readonly root: SharedArrayBuffer;
  readonly token: number;
}

/** A thread as the one that starts it sees it. */
export interface HookedThread {
  readonly start: SharedStart;
  /** It has sent `body`; `reply` sends something back. */
  onMessage(body: unknown, reply: (body: unknown) => void): void;
  /** It is being stopped by force. */
  onStop(): void;
  /** It has ended. `isCertain`: by itself, so nothing of it can run any more. */
  onEnd(isCertain: boolean): void;
}

export interface ThreadHooks {
  /** A thread is about to start. */
  begin(): HookedThread;
}

const KEY = Symbol.for("heddle.threads");

export function threadHooks(): ThreadHooks | undefined {
  return (globalThis as { [KEY]?: ThreadHooks })[KEY];
}

export function setThreadHooks(hooks: ThreadHooks): void {
  Object.defineProperty(globalThis, KEY, { value: hooks });
}
