/**
 * How a producer with a full ring requests a wake when there is room again: one word.
 *
 *   0 → 1   the producer, by a store, after it has announced its park and before it checks for room
 *           once more
 *   1 → 0   the consumer, by compare-exchange, after it has published its head, after it has announced a
 *           park of its own, and after it has stored in that park that it accepts calls again; it then
 *           wakes the producer
 *
 * No wake is lost. Producer: announce the park, store 1, load the head, wait. Consumer: publish the
 * head, load the word, take it, load the parked word. All seq-cst. If the consumer's load misses the
 * 1, the producer's load of the head comes after that publish and sees its room. If the consumer takes
 * the 1, the park was announced before it, so the consumer's wake finds it.
 *
 * The order of the producer's first two steps matters. If it raised the flag before the announcement, a
 * consumer that has not yet seen the park could take the flag when there is still too little room, and no
 * wake would follow once there is enough (`tests/schedule` has that schedule).
 *
 * The consumer checks the flag only after it has published its head, since only that creates room. The last
 * publish of a drained ring leaves less than an eighth of it unpublished (`ring/consumer.ts`), so the
 * producer then finds room for the largest record.
 *
 * The host also raises the flag in the request ring for calls that it keeps for an idle worker. The worker:
 * announce the park, take the flag, wake the host. The host: announce the park, raise the flag, check whether
 * a worker is parked. Again store, then load on both sides. The same holds for a worker whose park waited for
 * its own async tasks: store that it waits for calls (`waitsFor`), take the flag.
 */
export class SpaceFlag {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  constructor(words: Int32Array<SharedArrayBuffer>, index: number) {
    this.#words = words;
    this.#index = index;
  }

  /** Producer, after announcing its park: requests a wake. Check for room again after this. */
  raise(): void {
    // SYNC(wants-space): pairs with `take`. Needs seq-cst.
    Atomics.store(this.#words, this.#index, 1);
  }

  /** Consumer, after publishing its head: true if the producer requested a wake and must be woken now. */
  take(): boolean {
    // SYNC(wants-space): pairs with `raise`. Needs seq-cst.
    return Atomics.load(this.#words, this.#index) === 1 &&
      Atomics.compareExchange(this.#words, this.#index, 1, 0) === 1;
  }
}
