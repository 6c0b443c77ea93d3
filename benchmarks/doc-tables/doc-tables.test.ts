/** The figures in the docs match those in `results/`. */
import { describe, expect, test } from "vitest";
import { readDocument, tableIn, TABLES, withMeanings, withTables } from "./main.ts";

/** Without the padding that the formatter adds. */
const cells = (table: string): string[][] =>
  table.split("\n").map((line) => line.split("|").map((cell) => cell.trim().replace(/-+/, "-")));

describe.each(Object.entries(TABLES))("%s", (file, tables) => {
  const document = readDocument(file);

  test.each(Object.entries(tables))("table %s", (name, create) => {
    expect(cells(tableIn(document, name))).toEqual(cells(create()));
  });

  test("every chart has its sentence under it", () => {
    expect(withMeanings(document)).toBe(document);
  });

  // Prose beside the tables names the winner and gives no figure, which a new run would make stale.
  test.runIf(file.startsWith("docs/benchmarks/"))("quotes no figure outside the tables", () => {
    // Captions are claims, which have a test of their own; the width of all intervals is the same.
    const prose = withTables(document, () => "")
      .replaceAll(/```[^]*?```|`[^`]*`|^_.*_$|95 % interval/gm, "");
    const figures = prose.match(/\d[\d.,]*\s?(?:[µmn]s|[GM]B\/s|×|%)(?![\w])/g) ?? [];
    expect(figures).toEqual([]);
  });
});

test("only text between marks is replaced", () => {
  const mark = (name: string, text: string) =>
    `<!-- ${name}, from results/ -->\n\n${text}\n\n<!-- end of ${name} -->`;
  const document = `a\n${mark("one", "old")}\nb\n${mark("two", "old")}\nc`;
  expect(withTables(document, (name) => name)).toBe(
    `a\n${mark("one", "one")}\nb\n${mark("two", "two")}\nc`,
  );
});

test("a chart gets the sentence of graphs/meanings.ts, once", () => {
  const chart = "![One](../../graphs/ipc-1.png)";
  const written = withMeanings(`a\n\n${chart}\n\nb`);
  expect(written).toMatch(/^a\n\n!\[One\]\(\S+\)\n\n_One message [^_]+_\n\nb$/);
  expect(withMeanings(written)).toBe(written);
  expect(withMeanings(readDocument("docs/comparison.md"))).toBe(readDocument("docs/comparison.md"));
  expect(() => withMeanings("![](graphs/unknown.png)")).toThrow(/unknown/);
});
