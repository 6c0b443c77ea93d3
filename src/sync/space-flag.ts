/**
 * How a producer that found its ring full asks to be woken when there is room again: one word.
 *
 *   0 → 1   the producer, by a store, after it has announced its park and before it looks for room
 *           once more
 *   1 → 0   the consumer, by compare-exchange, after it has published its head, after it has announced a
 *           park of its own, and after it has said in that park that it takes calls again; it then wakes
 *           the producer
 *
 * No wake is lost. Producer: announce the park, store 1, look at the head, wait. Consumer: publish the
 * head, load the word, take it, load the parked word. All seq-cst. If the consumer's load misses the
 * 1, the producer's look comes after that publish and sees its room. If the consumer takes the 1, the
 * park was announced before it, so the consumer's wake finds it.
 *
 * The order of the first two matters: a flag raised before the announcement can be taken for room that
 * is not enough, by a consumer that sees no parked worker yet, and nobody would wake the producer for
 * the room that is (`tests/schedule` has that schedule).
 *
 * For room the consumer looks after it has published its head: nothing else can help. The last publish
 * of a drained ring leaves less than an eighth of it unpublished (`ring/consumer.ts`), so at the latest
 * then the producer finds room for the largest record.
 *
 * The host raises it in the request ring also for calls that it keeps for a worker with nothing to do.
 * The worker: announce the park, take the flag, wake the host. The host: announce the park, raise the
 * flag, look whether a worker is parked. Again store, then load on both sides. The same for a worker whose park
 * waited for its own async tasks: store that it waits for calls (`waitsFor`), take the flag.
 */
export class SpaceFlag {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  constructor(words: Int32Array<SharedArrayBuffer>, index: number) {
    this.#words = words;
    this.#index = index;
  }

  /** Producer, parked by announcement: asks for a wake. Look for room again after this. */
  raise(): void {
    // SYNC(wants-space): pairs with `take`. Needs seq-cst.
    Atomics.store(this.#words, this.#index, 1);
  }

  /** Consumer, after publishing its head: true if the producer asked, and must be woken now. */
  take(): boolean {
    // SYNC(wants-space): pairs with `raise`. Needs seq-cst.
    return Atomics.load(this.#words, this.#index) === 1 &&
      Atomics.compareExchange(this.#words, this.#index, 1, 0) === 1;
  }
}
