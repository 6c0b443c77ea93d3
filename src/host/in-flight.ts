/**
 * The slab of calls that are not settled yet: the only place where a call's promise settles, and
 * where it does so exactly once.
 *
 * A call's correlation id is its slot and the slot's generation. Taking a slot out bumps the
 * generation, so an answer that comes late, for a call that was rejected meanwhile, finds nothing.
 */

export type Resolve = (value: unknown) => void;
export type Reject = (reason: unknown) => void;

/** Lane of a call that is still queued on the host. */
export const QUEUED_ON_HOST = -1;

export class InFlight {
  /** Lane id by slot, QUEUED_ON_HOST while waiting. Meaningless for free slots. */
  readonly laneOf: number[] = [];
  /** What the call amounts to for its lane (`lane-load.ts`), by slot. Set when it is sent. */
  readonly loadOf: number[] = [];
  readonly #resolve: (Resolve | undefined)[] = [];
  readonly #reject: (Reject | undefined)[] = [];
  readonly #generation: number[] = [];
  readonly #free: number[] = [];
  readonly #onEmpty: () => void;
  #size = 0;

  /** `onEmpty` is called whenever the last waiting call has been taken out, before it settles. */
  constructor(onEmpty: () => void = () => {}) {
    this.#onEmpty = onEmpty;
  }

  /** Calls not settled yet. */
  get size(): number {
    return this.#size;
  }

  /** Takes a slot for a call. */
  add(resolve: Resolve, reject: Reject, lane: number): number {
    const slot = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    this.#resolve[slot] = resolve;
    this.#reject[slot] = reject;
    this.laneOf[slot] = lane;
    this.#size++;
    return slot;
  }

  generationOf(slot: number): number {
    return this.#generation[slot]!;
  }

  /** Whether this id belongs to a call that is still waiting. */
  has(slot: number, generation: number): boolean {
    return this.#resolve[slot] !== undefined && this.#generation[slot] === generation;
  }

  /** Settles the call in `slot`, which must be taken. */
  resolve(slot: number, value: unknown): void {
    const resolve = this.#resolve[slot]!;
    this.#release(slot);
    resolve(value);
  }

  /** Settles the call in `slot`, which must be taken. */
  reject(slot: number, reason: unknown): void {
    const reject = this.#reject[slot]!;
    this.#release(slot);
    reject(reason);
  }

  /** Slots of all calls that `lane` holds; of every call if `lane` is undefined. */
  slotsOf(lane?: number): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.#resolve.length; slot++) {
      if (this.#resolve[slot] === undefined) continue;
      if (lane === undefined || this.laneOf[slot] === lane) slots.push(slot);
    }
    return slots;
  }

  // Stores instead of `push`, here and below: a stack that overflows in between would lose a slot.
  #grow(): number {
    const slot = this.#generation.length;
    this.#generation[slot] = this.loadOf[slot] = 0;
    return slot;
  }

  #release(slot: number): void {
    this.#resolve[slot] = undefined;
    this.#reject[slot] = undefined;
    this.#generation[slot] = (this.#generation[slot]! + 1) | 0;
    this.#free[this.#free.length] = slot;
    if (--this.#size === 0) this.#onEmpty();
  }
}
