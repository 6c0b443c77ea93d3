/**
 * Short strings that come again: enumerations, names, units. Making a string out of bytes costs an
 * engine 30 to 80 ns; finding one that was made before, by comparing its bytes four at a time, costs
 * 15. Where strings do not repeat, looking for them would only cost, so the cache watches its own
 * success and pauses.
 */

/** Entries, a power of two; one place for each hash, taken over by whoever comes last. */
const ENTRIES = 1024;
const SHIFT = 22;
/** Words that an entry holds: strings up to 32 bytes. */
const WORDS = 8;
/** Lookups between two looks at the success, and lookups left out after too little of it. */
const WATCHED = 256;
const LEFT_OUT = 4096;
/** Below this many hits of those watched, looking costs more than it saves. */
const MIN_HITS = 80;

export class StringCache {
  readonly #words = new Int32Array(ENTRIES * WORDS);
  readonly #strings: string[] = new Array<string>(ENTRIES).fill("");
  #watched = 0;
  #hits = 0;
  /** Lookups to be left out. */
  #pause = 0;

  /** Whether it is worth looking now. Counts as a lookup. */
  get isWorthwhile(): boolean {
    if (this.#pause > 0) {
      this.#pause--;
      return false;
    }
    if (++this.#watched >= WATCHED) {
      if (this.#hits < MIN_HITS) this.#pause = LEFT_OUT;
      this.#watched = this.#hits = 0;
    }
    return true;
  }

  /** The entry for the `units` bytes from word `start` on. */
  entryOf(i32: Int32Array<SharedArrayBuffer>, start: number, units: number): number {
    let hash = units;
    const whole = start + (units >> 2);
    for (let word = start; word < whole; word++) hash = Math.imul(hash ^ i32[word]!, 0x9e3779b1);
    const rest = units & 3;
    if (rest > 0) hash = Math.imul(hash ^ (i32[whole]! << ((4 - rest) << 3)), 0x9e3779b1);
    return (hash ^ (hash << 7)) >>> SHIFT;
  }

  /** The string of `entry` if it is made of the same bytes. */
  find(
    entry: number,
    i32: Int32Array<SharedArrayBuffer>,
    start: number,
    units: number,
  ): string | undefined {
    const string = this.#strings[entry]!;
    if (string.length !== units) return undefined;
    const words = this.#words;
    let at = entry * WORDS;
    const whole = start + (units >> 2);
    for (let word = start; word < whole; word++) if (words[at++] !== i32[word]) return undefined;
    const rest = units & 3;
    if (rest > 0 && words[at] !== i32[whole]! << ((4 - rest) << 3)) return undefined;
    this.#hits++;
    return string;
  }

  /** Puts a string in the place of `entry`. */
  keep(
    entry: number,
    i32: Int32Array<SharedArrayBuffer>,
    start: number,
    units: number,
    string: string,
  ): void {
    const words = this.#words;
    let at = entry * WORDS;
    const whole = start + (units >> 2);
    for (let word = start; word < whole; word++) words[at++] = i32[word]!;
    const rest = units & 3;
    if (rest > 0) words[at] = i32[whole]! << ((4 - rest) << 3);
    this.#strings[entry] = string;
  }
}
