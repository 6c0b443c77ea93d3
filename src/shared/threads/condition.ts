/** Waits: their conditions and limits. */

/** The condition of a wait. */
export interface Condition {
  /** Registers this thread with the object, so that a change wakes it, then checks. True: the wait is over. */
  check(): boolean;
  /**
   * The wait is over, in any way: takes back its registration. True: what it waits for has happened meanwhile, so a wait that was given up
   * ends well after all.
   */
  leave?(): unknown;
}

/** How long to wait. */
export interface WaitOptions {
  /** Longest wait, in milliseconds: then it fails with WaitTimeoutError. @default Infinity */
  readonly timeoutMs?: number;
  /** Ends the wait: it rejects with the signal's reason. null: no signal, as for `fetch`. @default undefined */
  readonly signal?: AbortSignal | null;
}
