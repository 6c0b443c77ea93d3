/** Checks the memory of a shared map: its entries, its free lists, and that each block is in one of them. */
import { expect } from "vitest";
import type { ObjectMemory } from "../../src/shared/memory.ts";
import {
  BLOCK_WORDS,
  BLOCKS,
  BUCKET_BITS,
  BUCKETS,
  EVICTS,
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
  placesOf,
  REMOVED_NEXT,
  SIZE,
  WAITING,
} from "../../src/shared/map/layout.ts";
import { viewMemory } from "../../src/memory/views.ts";

const PREVIOUS = 1;

/** Blocks that are covered, and by what. */
type Covered = Map<number, string>;

/** Throws if the map is not whole. Call it when no thread changes it, after a change that has repaired it. */
export function checkMapMemory({ buffer }: ObjectMemory): void {
  const { i32, u8 } = viewMemory(buffer);
  const { states, arena, bucketMask } = placesOf(
    i32[BUCKET_BITS]!,
    i32[MAX_BLOCKS]!,
    i32[EVICTS] === 1,
  );
  const wordOf = (block: number): number => (arena >> 2) + block * BLOCK_WORDS;
  const covered: Covered = new Map();
  // Without `expect`, which takes microseconds for each block.
  const cover = (block: number, order: number, name: string, state: number): void => {
    const end = block + (1 << order);
    if (u8[states + block] !== state || (block & (end - block - 1)) !== 0) {
      throw new Error(
        `Block ${block} (${name}) has the state ${u8[states + block]}, not ${state}.`,
      );
    }
    for (let at = block; at < end; at++) {
      if (!covered.has(at) && (at === block || u8[states + at] === NOTHING_STARTS)) {
        covered.set(at, name);
        continue;
      }
      const other = covered.get(at) ?? u8[states + at];
      throw new Error(`Block ${at} is of ${name} from ${block} on, and ${other} as well.`);
    }
  };
  const coverUsed = (link: number, name: string): void => {
    const order = i32[wordOf(link - 1) + ORDER]! & 0xff;
    cover(link - 1, order, name, order + 1);
  };
  let size = 0;
  for (let bucket = 0; bucket <= bucketMask; bucket++) {
    for (let link = i32[BUCKETS + bucket]!; link !== 0; link = i32[wordOf(link - 1) + NEXT]!) {
      coverUsed(link, "entry");
      size++;
    }
  }
  expect(i32[SIZE]).toBe(size);
  const lengths: number[] = [];
  for (const [name, first] of [["limbo", LIMBO], ["waiting", WAITING]] as const) {
    let length = 0;
    for (let link = i32[first]!; link !== 0; link = i32[wordOf(link - 1) + REMOVED_NEXT]!) {
      coverUsed(link, name);
      length++;
    }
    lengths.push(length);
  }
  expect(i32[LIMBO_COUNT]).toBe(lengths[0]);
  for (let order = 0; order <= MAX_ORDER; order++) {
    let previous = 0;
    for (let link = i32[FREE_LISTS + order]!; link !== 0;) {
      const word = wordOf(link - 1);
      cover(link - 1, order, `free ${order}`, IS_FREE | order + 1);
      expect(i32[word + PREVIOUS]).toBe(previous);
      previous = link;
      link = i32[word + NEXT]!;
    }
  }
  if (i32[IS_UNFINISHED] === 0) expect(covered.size).toBe(i32[BLOCKS]);
}
