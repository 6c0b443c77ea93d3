/**
 * How a producer that found its ring full asks to be woken when there is room again: one word.
 *
 *   0 → 1   the producer, by a store, before it looks for room once more
 *   1 → 0   the producer (it found room after all) or the consumer (it will wake it), by
 *           compare-exchange
 *
 * No wake is lost. Producer: store 1, then look at the head. Consumer: publish the head, then load
 * the word. Both sides are seq-cst store-then-load, so at least one sees the other. Afterwards the
 * producer parks, and is woken, by the protocol of `wake-word.ts`.
 *
 * The consumer looks only after it has published its head: nothing else can help the producer. The
 * last publish of a drained ring leaves less than an eighth of it unpublished (`ring/consumer.ts`),
 * so the producer that it wakes finds room for the largest record.
 */
export class SpaceFlag {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  constructor(words: Int32Array<SharedArrayBuffer>, index: number) {
    this.#words = words;
    this.#index = index;
  }

  /** Producer: asks for a wake. Look for room again after this. */
  raise(): void {
    // SYNC(wants-space): pairs with `take`. Needs seq-cst.
    Atomics.store(this.#words, this.#index, 1);
  }

  /** Producer: there is room, no wake needed. */
  lower(): void {
    Atomics.compareExchange(this.#words, this.#index, 1, 0);
  }

  /** Consumer, after publishing its head: true if the producer asked, and must be woken now. */
  take(): boolean {
    // SYNC(wants-space): pairs with `raise`. Needs seq-cst.
    return Atomics.load(this.#words, this.#index) === 1 &&
      Atomics.compareExchange(this.#words, this.#index, 1, 0) === 1;
  }
}
