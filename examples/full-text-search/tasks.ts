import { workerInfo } from "heddle/task";
import type MiniSearch from "minisearch";
import type { Text } from "./setup.ts";

/** Titles of the texts that fit best; words may be incomplete or misspelled. */
export function search(query: string, count: number): string[] {
  const { context: index } = workerInfo<MiniSearch<Text>>()!;
  const found = index.search(query, { prefix: true, fuzzy: 0.2 });
  return found.slice(0, count).map(({ title }) => String(title));
}
