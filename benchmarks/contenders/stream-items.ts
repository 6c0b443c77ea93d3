/** The items of `streams`: 64 variants of each kind, made beforehand and used in turn. */
import { byteArray } from "../payloads/bytes.ts";
import { user } from "../payloads/objects.ts";
import type { StreamKind } from "../scenarios/streams-cases.ts";

const VARIANTS = 64;
const CREATE: Readonly<Record<StreamKind, (variant: number) => unknown>> = {
  "number": (variant) => variant + 0.5,
  "object, 200 B": user,
  "bytes, 16 KiB": (variant) => byteArray(16 * 1024, variant),
};

export const itemsOf = (kind: StreamKind): readonly unknown[] =>
  Array.from({ length: VARIANTS }, (_, variant) => CREATE[kind](variant));

export function* generate(kind: StreamKind, count: number): Generator<unknown> {
  const items = itemsOf(kind);
  for (let n = 0; n < count; n++) yield items[n % VARIANTS];
}

export const square = (x: number): number => x * x;

export async function countItems(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}
