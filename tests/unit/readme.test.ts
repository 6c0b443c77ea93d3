/** The README's tables are those of `results/`. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tableIn, TABLES } from "../../benchmarks/readme-tables.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** Without the padding that the formatter adds. */
const cells = (table: string): string[][] =>
  table.split("\n").map((line) => line.split("|").map((cell) => cell.trim().replace(/-+/, "-")));

test.each(Object.entries(TABLES))("%s", (name, create) => {
  expect(cells(tableIn(readme, name))).toEqual(cells(create()));
});
