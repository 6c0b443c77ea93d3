/** Options of waits, and their checks. */
import { DeadlockError, InvalidArgumentError } from "../../errors.ts";
import { MAX_TIMER_MS } from "../../runtimes/runtime.ts";
import { PoisonedError } from "../../shared-errors.ts";
import type { WaitOptions } from "../threads/condition.ts";
import type { Outcome } from "./gate.ts";

export type { WaitOptions } from "../threads/condition.ts";

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
  const isTime = timeoutMs === undefined || timeoutMs === Infinity ||
    (typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= MAX_TIMER_MS);
  if (!isTime) {
    throw new InvalidArgumentError(
      `timeoutMs is ${String(timeoutMs)}: it has to be a number of milliseconds, ` +
        `0 or more, at most ${MAX_TIMER_MS}, or Infinity.`,
    );
  }
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw new InvalidArgumentError(`signal is ${typeof signal}: it has to be an AbortSignal.`);
  }
  if (recover !== undefined && typeof recover !== "boolean") {
    throw new InvalidArgumentError(`recover is ${String(recover)}: it has to be true or false.`);
  }
}

/** Throws PoisonedError for a lock that is. True: the lock was poisoned, and is recovered. */
export function heldOrThrow(outcome: Exclude<Outcome, "busy">, name: string): boolean {
  if (outcome === "poisoned") {
    throw new PoisonedError(
      `A thread died while it held this ${name}: what it protects may be half-changed. Repair it under lock({ recover: true }).`,
    );
  }
  return outcome === "recovered";
}

/** Throws DeadlockError if the thread would block while it holds the lock. */
export function checkDeadlock(held: number, name: string): void {
  if (held > 0) {
    throw new DeadlockError(`This thread holds this ${name} already, and would wait for itself.`);
  }
}

/** The lock of a guard. @internal */
export interface Held {
  release(): void;
  /** For conditions. Both throw PoisonedError. */
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
