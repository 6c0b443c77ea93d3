/** Options and guards of locks. */
import { DeadlockError } from "../../errors.ts";
import { PoisonedError } from "../../shared-errors.ts";
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

/** Options of locks, of their blocking forms, and of those that begin with `try`. */
export const LOCK: readonly string[] = ["timeoutMs", "signal", "recover"];
export const BLOCK_LOCK: readonly string[] = ["timeoutMs", "recover"];
export const TRY_LOCK: readonly string[] = ["recover"];

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
