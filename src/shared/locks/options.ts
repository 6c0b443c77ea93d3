/** Options of waits, and their checks. */
import { InvalidArgumentError } from "../../errors.ts";
import { DeadlockError, PoisonedError, WaitTimeoutError } from "../../shared-errors.ts";
import type { Outcome } from "./gate.ts";

/** How long to wait. */
export interface WaitOptions {
  /** Longest wait, in milliseconds: then it fails with WaitTimeoutError. @default Infinity */
  readonly timeoutMs?: number;
  /** Ends the wait: it rejects with the signal's reason. @default undefined */
  readonly signal?: AbortSignal;
}

/** How long a thread may block. */
export interface BlockOptions {
  /** Longest wait, in milliseconds: then it fails with WaitTimeoutError. @default Infinity */
  readonly timeoutMs?: number;
}

/** What to do with a lock whose holder died. */
export interface RecoverOption {
  /** Take a poisoned lock: its guard says so in `wasPoisoned`, and it is not poisoned any more. @default false */
  readonly recover?: boolean;
}

/** Throws InvalidArgumentError. */
export function checkWait(options: WaitOptions & RecoverOption): void {
  const { timeoutMs, signal, recover } = options;
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0)) {
    throw new InvalidArgumentError(
      `timeoutMs is ${String(timeoutMs)}: it has to be a number of milliseconds, 0 or more.`,
    );
  }
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw new InvalidArgumentError(`signal is ${typeof signal}: it has to be an AbortSignal.`);
  }
  if (recover !== undefined && typeof recover !== "boolean") {
    throw new InvalidArgumentError(`recover is ${String(recover)}: it has to be true or false.`);
  }
}

/** Throws for an outcome that is not a lock. True: it was poisoned. */
export function heldOrThrow(
  outcome: Outcome,
  name: string,
  timeoutMs: number | undefined,
): boolean {
  if (outcome === "poisoned") {
    throw new PoisonedError(
      `A thread died while it held this ${name}: what it protects may be half-changed. Put it right under lock({ recover: true }).`,
    );
  }
  if (outcome === "busy") throw new WaitTimeoutError(`Waiting for this ${name}`, timeoutMs ?? 0);
  return outcome === "recovered";
}

/** Throws DeadlockError if the thread would block while it holds the lock. */
export function checkDeadlock(held: number, name: string): void {
  if (held > 0) {
    throw new DeadlockError(`This thread holds this ${name} already, and would wait for itself.`);
  }
}

/** What a guard gives back, and a condition takes again. @internal */
export interface Held {
  release(): void;
  /** Whether it was poisoned meanwhile is for the caller: it takes it in any case. */
  reacquire(): Promise<void>;
  reacquireSync(): void;
}

/** A lock that is held. Give it back by `release()` or `using`: a guard that is dropped keeps it. */
export class LockGuard {
  /** Whether the thread that held the lock before died with it: then what it protects may be half-changed. */
  readonly wasPoisoned: boolean;
  readonly #held: Held;
  #isHeld = true;

  /** @internal */
  constructor(held: Held, wasPoisoned: boolean) {
    this.#held = held;
    this.wasPoisoned = wasPoisoned;
  }

  /** Whether it is still held. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Gives the lock back; a second time does nothing. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#held.release();
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }

  /** Takes the lock again, for conditions. @internal */
  async reacquire(): Promise<void> {
    await this.#held.reacquire();
    this.#isHeld = true;
  }

  /** The same, blocking. @internal */
  reacquireSync(): void {
    this.#held.reacquireSync();
    this.#isHeld = true;
  }
}
