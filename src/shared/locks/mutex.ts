/** Mutex, read-write lock and semaphore: three ways to use a gate. */
import { invalid, show } from "../../option-checks.ts";
import { BLOCK, checkWait, memoryOrNew, NO_OPTIONS, WAIT } from "../given.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { type Kind, ObjectMemory } from "../memory.ts";
import { type ThisThread, thisThread } from "../threads/this-thread.ts";
import { Gate, GATE_BYTES, MAX_PERMITS } from "./gate.ts";
import {
  BLOCK_LOCK,
  type BlockOptions,
  checkDeadlock,
  heldOrThrow,
  LOCK,
  LockGuard,
  type RecoverOption,
  TRY_LOCK,
  type WaitOptions,
} from "./options.ts";

function createGate(kind: Kind, capacity: number, poisonous: number): ObjectMemory {
  const memory = ObjectMemory.create(kind, GATE_BYTES, thisThread());
  Gate.initialize(memory, capacity, poisonous);
  return memory;
}

/** What the three have in common. */
abstract class GateLock extends SharedObject {
  // Private, as all that handles hold: the codec sends objects with properties as objects.
  readonly #gate: Gate;
  readonly #thread: ThisThread;
  readonly #name: string;

  /** @internal */
  constructor(kind: Kind, name: string, memory: ObjectMemory) {
    super(kind, memory);
    this.#gate = new Gate(memory, kind);
    this.#thread = memory.thread;
    this.#name = name;
  }

  protected get gate(): Gate {
    return this.#gate;
  }

  protected async wait(
    method: string,
    permits: number,
    options: WaitOptions & RecoverOption,
    known: readonly string[] = LOCK,
  ): Promise<LockGuard> {
    checkWait(method, options, known);
    return this.#guard(permits, await this.#acquire(permits, options));
  }

  protected block(
    method: string,
    permits: number,
    options: BlockOptions & RecoverOption,
    known: readonly string[] = BLOCK_LOCK,
    mayNest = false,
  ): LockGuard {
    const thread = this.#thread;
    thread.checkMayBlock(method);
    checkWait(method, options, known);
    const isPoisoned = this.#acquireSync(permits, options, () => {
      checkDeadlock(mayNest ? 0 : this.gate.own, this.#name);
    });
    return this.#guard(permits, isPoisoned);
  }

  protected try(method: string, permits: number, options: RecoverOption): LockGuard | undefined {
    checkWait(method, options, TRY_LOCK);
    const outcome = this.gate.tryAcquire(permits, options.recover ?? false);
    if (outcome === "busy") return undefined;
    return this.#guard(permits, heldOrThrow(outcome, this.#name));
  }

  async #acquire(permits: number, options: WaitOptions & RecoverOption): Promise<boolean> {
    const { recover = false } = options;
    const outcome = await this.gate.acquire(permits, recover, options, this.#waiting);
    return heldOrThrow(outcome, this.#name);
  }

  #acquireSync(
    permits: number,
    { recover = false, timeoutMs }: BlockOptions & RecoverOption,
    checkWait?: () => void,
  ): boolean {
    const outcome = this.gate.acquireSync(permits, recover, timeoutMs, this.#waiting, checkWait);
    return heldOrThrow(outcome, this.#name);
  }

  get #waiting(): string {
    return `Waiting for this ${this.#name}`;
  }

  #guard(permits: number, wasPoisoned: boolean): LockGuard {
    const held = {
      release: () => this.gate.release(permits),
      reacquire: async () => void await this.#acquire(permits, NO_OPTIONS),
      reacquireSync: () => void this.#acquireSync(permits, NO_OPTIONS),
    };
    return new LockGuard(held, wasPoisoned);
  }
}

/**
 * A lock that one holder has at a time, in any thread. Fair: the lock is given in the order of the requests.
 *
 * If a thread dies while it holds the lock, all requests fail with {@link PoisonedError}, until one takes it with `recover: true`.
 */
export class Mutex extends GateLock {
  /** A new mutex. Pass it in an argument, or name it: `shared.mutex(name)`. */
  constructor(memory?: ObjectMemory) {
    super("mutex", "mutex", memoryOrNew("Mutex", memory, () => createGate("mutex", 1, 1)));
  }

  /** Resolves with the lock. Two async functions of one thread exclude each other too, so a function that locks twice waits for ever. */
  lock(options: WaitOptions & RecoverOption = NO_OPTIONS): Promise<LockGuard> {
    return this.wait("lock", 1, options);
  }

  /** Blocks until it has the lock: in workers. Throws DeadlockError if this thread holds it. */
  lockSync(options: BlockOptions & RecoverOption = NO_OPTIONS): LockGuard {
    return this.block("lockSync", 1, options);
  }

  /** The lock if it is free and has no waiters; otherwise undefined. */
  tryLock(options: RecoverOption = NO_OPTIONS): LockGuard | undefined {
    return this.try("tryLock", 1, options);
  }

  /** Whether this thread holds it. */
  get isHeld(): boolean {
    return this.gate.own > 0;
  }

  /** Whether a thread died with it, and it was not recovered. */
  get isPoisoned(): boolean {
    return this.gate.isPoisoned;
  }
}

/** A lock that many readers or one writer have at a time. Fair: a reader that comes after a writer waits for it. */
export class RwLock extends GateLock {
  /** A new lock. Pass it in an argument, or name it: `shared.rwLock(name)`. */
  constructor(memory?: ObjectMemory) {
    const create = (): ObjectMemory => createGate("rwLock", MAX_PERMITS, MAX_PERMITS);
    super("rwLock", "lock", memoryOrNew("RwLock", memory, create));
  }

  /** Resolves with the lock for reading. */
  read(options: WaitOptions & RecoverOption = NO_OPTIONS): Promise<LockGuard> {
    return this.wait("read", 1, options);
  }

  /** Resolves with the lock for writing. Only a writer's death poisons. */
  write(options: WaitOptions & RecoverOption = NO_OPTIONS): Promise<LockGuard> {
    return this.wait("write", MAX_PERMITS, options);
  }

  /** Blocks until it may read: in workers. */
  readSync(options: BlockOptions & RecoverOption = NO_OPTIONS): LockGuard {
    return this.block("readSync", 1, options);
  }

  /** Blocks until it may write: in workers. Throws DeadlockError if this thread holds it in any way. */
  writeSync(options: BlockOptions & RecoverOption = NO_OPTIONS): LockGuard {
    return this.block("writeSync", MAX_PERMITS, options);
  }

  /** The lock for reading, unless it has a writer or waiters. */
  tryRead(options: RecoverOption = NO_OPTIONS): LockGuard | undefined {
    return this.try("tryRead", 1, options);
  }

  /** The lock for writing if it is free and has no waiters. */
  tryWrite(options: RecoverOption = NO_OPTIONS): LockGuard | undefined {
    return this.try("tryWrite", MAX_PERMITS, options);
  }

  /** Whether a writer died with it, and it was not recovered. */
  get isPoisoned(): boolean {
    return this.gate.isPoisoned;
  }
}

/** A number of permits. Fair. The permits of a thread that dies are free again. */
export class Semaphore extends GateLock {
  /** A semaphore of `permits` permits, 1 to 2 ** 30 - 1. Pass it in an argument, or name it: `shared.semaphore(name, permits)`. */
  constructor(permits: number | ObjectMemory) {
    super("semaphore", "semaphore", permits instanceof ObjectMemory ? permits : ofPermits(permits));
  }

  /** Resolves with the permits, which the guard releases together. */
  acquire(permits = 1, options: WaitOptions = NO_OPTIONS): Promise<LockGuard> {
    this.#check(permits);
    return this.wait("acquire", permits, options, WAIT);
  }

  /** Blocks until it has them: in workers. Throws DeadlockError if it had to wait while this thread holds some. */
  acquireSync(permits = 1, options: BlockOptions = NO_OPTIONS): LockGuard {
    this.#check(permits);
    return this.block(
      "acquireSync",
      permits,
      options,
      BLOCK,
      this.gate.own + permits <= this.gate.capacity,
    );
  }

  /** The permits if they are free and it has no waiters. */
  tryAcquire(permits = 1): LockGuard | undefined {
    this.#check(permits);
    return this.try("tryAcquire", permits, NO_OPTIONS);
  }

  /** Permits that no thread holds now. */
  get available(): number {
    return this.gate.available;
  }

  /** All permits there are. */
  get permits(): number {
    return this.gate.capacity;
  }

  #check(permits: number): void {
    checkPermits(permits, this.gate.capacity);
  }
}

export function checkPermits(permits: number, most: number = MAX_PERMITS): number {
  if (Number.isInteger(permits) && permits >= 1 && permits <= most) return permits;
  throw invalid("permits", `a whole number from 1 to ${most}`, show(permits));
}

function ofPermits(permits: number): ObjectMemory {
  checkPermits(permits, MAX_PERMITS);
  return createGate("semaphore", permits, 0);
}

registerHandle("mutex", (memory) => new Mutex(memory));
registerHandle("rwLock", (memory) => new RwLock(memory));
registerHandle("semaphore", (memory) => new Semaphore(memory));
