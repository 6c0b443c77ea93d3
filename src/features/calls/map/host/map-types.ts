/** The public types of `map`, `forEach` and `reduce`, of pools and of scopes. */
import type { Items, MapOptions, MapParameters } from "./map.ts";
import type { MappedResults } from "./mapped-results.ts";

/** The outcome of an item, with the option `settled`: its result, or the error and the item. `index`: its place among the items. */
export type SettledItem<Result, Item> =
  & (PromiseFulfilledResult<Result> | (PromiseRejectedResult & { readonly item: Item }))
  & { readonly index: number };

/** The same task for many items. */
export interface Mappings {
  /** As below, with the option `settled`: the outcomes of all items, as by `Promise.allSettled`. */
  map<Item, Result, Args extends readonly unknown[] = []>(
    call: (item: Item, ...args: Args) => Promise<Result>,
    items: Items<Item>,
    ...options: SettledParameters<Args>
  ): MappedResults<SettledItem<Result, Item>>;
  /**
   * Calls a task for every item, in chunks over all threads: `await pool.map(pool.call.hash, files)` is the array of results, in
   * the order of the items unless `ordered` is false. Read by `for await`, they are a stream: items are taken from the source as
   * results are read. Work starts when it is awaited or read. An error, or `break`, takes no more items and aborts the calls in flight; results before an error
   * come first. Calls with a time limit or `onEvent`, and tasks with declared structs, are made one by one. `options` may
   * have further arguments, `args`, and a `signal`.
   */
  map<Item, Result, Args extends readonly unknown[] = []>(
    call: (item: Item, ...args: Args) => Promise<Result>,
    items: Items<Item>,
    ...options: MapParameters<Args, "settled">
  ): MappedResults<Result>;
  /** The same without results. Resolves when the task has run for every item. */
  forEach<Item, Args extends readonly unknown[] = []>(
    call: (item: Item, ...args: Args) => Promise<unknown>,
    items: Items<Item>,
    ...options: MapParameters<Args, "ordered" | "settled">
  ): Promise<void>;
  /**
   * Combines all items by a task of two arguments, in order: `pool.reduce(pool.call.add, numbers)`. The task must be
   * associative, since chunks are reduced at the same time: `add(add(a, b), c)` equals `add(a, add(b, c))`. Rejects if
   * there are no items.
   */
  reduce<Item, Args extends readonly unknown[] = []>(
    call: (one: Item, other: Item, ...args: Args) => Promise<Item>,
    items: Items<Item>,
    ...options: MapParameters<Args, "ordered" | "settled" | "onProgress">
  ): Promise<Item>;
}

/** The parameter `options` with `settled`. */
type SettledParameters<Args extends readonly unknown[]> = [
  options:
    & MapOptions<Args>
    & { readonly settled: true }
    & ([] extends Args ? unknown : { readonly args: Args }),
];
