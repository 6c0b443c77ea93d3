/**
 * Memory for entries: a buddy allocator of blocks of 64 · 2^order bytes (Knowlton, *A fast storage allocator*, 1965), whose blocks are
 * used again only after a grace period. Everything here happens under the map's latch.
 *
 * Removed entries go to the list `limbo`. When it has LIMBO_BATCH blocks, or memory is short, it becomes the list `waiting`, with a snapshot of every
 * thread's `visits`. A thread whose `visits` was odd in the snapshot may still read these blocks until the number changes. Then they are freed.
 */
import type { ObjectMemory } from "../memory.ts";
import type { Root } from "../threads/root.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import {
  BLOCK_BYTES,
  BLOCK_WORDS,
  BLOCKS,
  FREE_LISTS,
  IS_FREE,
  IS_UNFINISHED,
  LIMBO,
  LIMBO_COUNT,
  MAX_BLOCKS,
  MAX_ORDER,
  NEXT,
  NOTHING_STARTS,
  ORDER,
  type Places,
  REMOVED_NEXT,
  SNAPSHOT,
  WAITING,
} from "./layout.ts";

/** Blocks in limbo that are worth a snapshot, which looks at every thread. */
const LIMBO_BATCH = 64;
/** Blocks of the first growth; later ones double the arena. */
const FIRST_BLOCKS = 1024;
/** How long a change waits under the latch for readers to leave, if there is no memory but what they may read. */
const GRACE_MS = 2;
/** Words of a free block: links to the next and the previous one in its list. */
const PREVIOUS = 1;

export class Arena {
  readonly #memory: ObjectMemory;
  readonly #places: Places;
  readonly #thread: ThisThread;
  readonly #root: Root;
  /** Header words; they are in every view. */
  readonly #head: Int32Array<SharedArrayBuffer>;

  constructor(memory: ObjectMemory, places: Places) {
    this.#memory = memory;
    this.#places = places;
    this.#thread = memory.thread;
    this.#root = memory.thread.root;
    this.#head = memory.view.i32;
  }

  /** Word of a block, in a view that reaches over it. */
  wordOf(block: number): number {
    return (this.#places.arena >> 2) + block * BLOCK_WORDS;
  }

  static orderOf(bytes: number): number {
    return bytes <= BLOCK_BYTES ? 0 : 32 - Math.clz32((bytes - 1) >> 6);
  }

  /** Whether the last `allocate` failed because a reader stays inside: others may have to wait, too. */
  isHeld = false;

  /** Whether so many bytes fit if nothing else is there. */
  canHold(bytes: number): boolean {
    return 2 ** Arena.orderOf(bytes) <= this.#head[MAX_BLOCKS]!;
  }

  /** A block of at least `bytes` bytes; -1: there is none. */
  allocate(bytes: number): number {
    this.isHeld = false;
    if (!this.canHold(bytes)) return -1;
    const order = Arena.orderOf(bytes);
    if (this.#head[IS_UNFINISHED] === 1) this.finish();
    if (this.#head[LIMBO_COUNT]! >= LIMBO_BATCH) this.#turn();
    let block = this.#take(order);
    while (block < 0 && this.#grow()) block = this.#take(order);
    if (block < 0 && this.#reclaimAll()) block = this.#take(order);
    return block;
  }

  /** Frees a block that no reader can see. */
  free(block: number, order: number): void {
    const { u8 } = this.#memory.view;
    const states = this.#places.states;
    const blocks = this.#head[BLOCKS]!;
    for (; order < MAX_ORDER; order++) {
      const buddy = block ^ (1 << order);
      if (buddy + (1 << order) > blocks || u8[states + buddy] !== (IS_FREE | order + 1)) break;
      this.#unlink(buddy, order);
      u8[states + buddy] = NOTHING_STARTS;
      u8[states + block] = NOTHING_STARTS;
      block = Math.min(block, buddy);
    }
    this.#link(block, order);
  }

  /** Frees a block that readers may still see, after a grace period. */
  retire(block: number): void {
    const { i32 } = this.#memory.reach(4 * (this.wordOf(block) + BLOCK_WORDS));
    // Readers follow its link to the next entry, so the list goes through another word.
    i32[this.wordOf(block) + REMOVED_NEXT] = this.#head[LIMBO]!;
    this.#head[LIMBO] = block + 1;
    this.#head[LIMBO_COUNT]!++;
  }

  /** Bytes of the arena now. */
  get bytes(): number {
    return this.#head[BLOCKS]! * BLOCK_BYTES;
  }

  /** Forgets everything: afterwards `use` each block that is in use, then `finish`. After the death of a thread in the middle of something. */
  reset(): void {
    const { u8 } = this.#memory.reach(this.#memory.buffer.byteLength);
    const { states } = this.#places;
    this.#head[IS_UNFINISHED] = 1;
    this.#head.fill(0, FREE_LISTS, FREE_LISTS + MAX_ORDER + 1);
    this.#head[LIMBO] = this.#head[LIMBO_COUNT] = 0;
    this.#head[WAITING] = 0;
    u8.fill(NOTHING_STARTS, states, states + this.#head[BLOCKS]!);
  }

  /** Marks a block as used. */
  use(block: number, order: number): void {
    this.#memory.view.u8[this.#places.states + block] = order + 1;
  }

  /** Frees all blocks that are not in use, if no reader can see them any more. False: one may. */
  finish(): boolean {
    if (!this.#hasGrace()) return false;
    const { u8 } = this.#memory.view;
    const { states } = this.#places;
    const blocks = this.#head[BLOCKS]!;
    for (let block = 0; block < blocks;) {
      const state = u8[states + block]! & ~IS_FREE;
      if (state !== NOTHING_STARTS) {
        block += 1 << (state - 1);
        continue;
      }
      // The largest aligned run of blocks that are not in use.
      let order = 0;
      while (order < MAX_ORDER && this.#isRun(block, order + 1, blocks)) order++;
      this.#link(block, order);
      block += 1 << order;
    }
    this.#head[IS_UNFINISHED] = 0;
    return true;
  }

  #isRun(block: number, order: number, blocks: number): boolean {
    const size = 1 << order;
    if ((block & (size - 1)) !== 0 || block + size > blocks) return false;
    const { u8 } = this.#memory.view;
    for (let at = block; at < block + size; at++) {
      if (u8[this.#places.states + at] !== NOTHING_STARTS) return false;
    }
    return true;
  }

  #take(order: number): number {
    let from = order;
    while (from <= MAX_ORDER && this.#head[FREE_LISTS + from] === 0) from++;
    if (from > MAX_ORDER) return -1;
    const block = this.#head[FREE_LISTS + from]! - 1;
    this.#unlink(block, from);
    for (; from > order; from--) this.#link(block + (1 << (from - 1)), from - 1);
    this.#memory.view.u8[this.#places.states + block] = order + 1;
    return block;
  }

  #link(block: number, order: number): void {
    const view = this.#viewOf(block, order);
    const first = this.#head[FREE_LISTS + order]!;
    const word = this.wordOf(block);
    view.i32[word + NEXT] = first;
    view.i32[word + PREVIOUS] = 0;
    if (first !== 0) view.i32[this.wordOf(first - 1) + PREVIOUS] = block + 1;
    this.#head[FREE_LISTS + order] = block + 1;
    view.u8[this.#places.states + block] = IS_FREE | order + 1;
  }

  #unlink(block: number, order: number): void {
    const { i32 } = this.#viewOf(block, order);
    const next = i32[this.wordOf(block) + NEXT]!;
    const previous = i32[this.wordOf(block) + PREVIOUS]!;
    if (previous === 0) this.#head[FREE_LISTS + order] = next;
    else i32[this.wordOf(previous - 1) + NEXT] = next;
    if (next !== 0) i32[this.wordOf(next - 1) + PREVIOUS] = previous;
  }

  #viewOf(block: number, order: number): ObjectMemory["view"] {
    const end = this.#places.arena + (block + (1 << order)) * BLOCK_BYTES;
    return this.#memory.reach(Math.max(end, this.#places.arena + this.bytes));
  }

  /** Makes the arena larger. False: it has its greatest size, or the system has no memory. */
  #grow(): boolean {
    const blocks = this.#head[BLOCKS]!;
    const room = this.#head[MAX_BLOCKS]! - blocks;
    if (room <= 0) return false;
    // A power of two to which the end is aligned, so that it is whole buddies.
    const aligned = blocks === 0 ? 2 ** 30 : blocks & -blocks;
    const wanted = Math.min(Math.max(FIRST_BLOCKS, blocks), room, aligned);
    const order = 31 - Math.clz32(wanted);
    try {
      this.#memory.grow(this.#places.arena + (blocks + (1 << order)) * BLOCK_BYTES);
    } catch {
      return false;
    }
    this.#head[BLOCKS] = blocks + (1 << order);
    this.free(blocks, order);
    return true;
  }

  /** Frees `waiting` if its grace period has passed, and lets `limbo` wait then. */
  #turn(): void {
    if (this.#head[WAITING] !== 0) {
      if (!this.#hasPassed()) return;
      this.#freeWaiting();
    }
    this.#head[WAITING] = this.#head[LIMBO]!;
    this.#head[LIMBO_COUNT] = 0;
    this.#head[LIMBO] = 0;
    this.#snapshot();
  }

  #freeWaiting(): void {
    const { i32 } = this.#memory.reach(this.#places.arena + this.bytes);
    let link = this.#head[WAITING]!;
    this.#head[WAITING] = 0;
    while (link !== 0) {
      const word = this.wordOf(link - 1);
      const next = i32[word + REMOVED_NEXT]!;
      this.free(link - 1, i32[word + ORDER]! & 0xff);
      link = next;
    }
  }

  #snapshot(): void {
    for (let index = this.#root.high - 1; index >= 0; index--) {
      this.#head[SNAPSHOT + index] = this.#root.visits(index);
    }
  }

  #hasPassed(): boolean {
    for (let index = this.#root.high - 1; index >= 0; index--) {
      const then = this.#head[SNAPSHOT + index]!;
      if ((then & 1) === 0 || this.#root.visits(index) !== then) continue;
      // Inside all the time, unless it is dead.
      const token = this.#root.tokenAt(index);
      if (token !== 0 && !this.#root.isGone(token, this.#thread.nowMs)) return false;
    }
    return true;
  }

  /** Waits until every thread that is inside a map now has left. False: one stays, perhaps suspended. */
  #hasGrace(): boolean {
    this.#snapshot();
    const { now, pause } = this.#thread.runtime;
    const endMs = now() + GRACE_MS;
    for (let looks = 0; !this.#hasPassed(); looks++) {
      if (this.#thread.isInside || ((looks & 63) === 63 && now() > endMs)) {
        this.isHeld = true;
        return false;
      }
      pause();
    }
    this.#thread.checkLife(); // it may have taken long
    return true;
  }

  /** Frees all that was removed, after a wait if need be. True: there was something. */
  #reclaimAll(): boolean {
    const isEmpty = this.#head[WAITING] === 0 && this.#head[LIMBO] === 0;
    if (isEmpty || !this.#hasGrace()) return false;
    if (this.#head[WAITING] !== 0) this.#freeWaiting();
    this.#head[WAITING] = this.#head[LIMBO]!;
    this.#head[LIMBO] = this.#head[LIMBO_COUNT] = 0;
    if (this.#head[WAITING] !== 0) this.#freeWaiting();
    return true;
  }
}
