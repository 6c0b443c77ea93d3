/**
 * Generates the tables of the docs from `results/`: `node benchmarks/doc-tables/main.ts` rewrites them between their
 * marks. `tests/unit/project/doc-tables.test.ts` checks that they match.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { meaningOf } from "../../graphs/meanings.ts";
import { BROWSER_FIGURES, BROWSER_TABLES } from "./browser-page.ts";
import { COLD_TABLES } from "./cold-page.ts";
import { COST_TABLES, HOME_TABLES } from "./cost-page.ts";
import { HTTP_TABLES } from "./http-page.ts";
import { CONCURRENCY_TABLES } from "./concurrency-page.ts";
import { NATS_TABLES } from "./nats-page.ts";
import { OVERVIEW_TABLES } from "./overview.ts";
import { PROGRAM_TABLES } from "./programs-page.ts";
import { runtimeTables } from "./runtime-page.ts";
import { README_TABLES } from "./readme.ts";
import { SHARED_TABLES } from "./shared-page.ts";
import { RUNTIMES, type Tables } from "./page.ts";
import { STREAM_TABLES } from "./streams-page.ts";
import { TOKIO_TABLES } from "./tokio-page.ts";
import { WAITING_TABLES } from "./waiting.ts";

const root = new URL("../../", import.meta.url);

/** By file, by name of the table. */
export const TABLES: Readonly<Record<string, Tables>> = {
  "README.md": README_TABLES,
  "docs/index.md": HOME_TABLES,
  "docs/when-workers-pay.md": COST_TABLES,
  "docs/waiting.md": WAITING_TABLES,
  "docs/benchmarks/README.md": OVERVIEW_TABLES,
  ...Object.fromEntries(
    RUNTIMES.map((runtime) => [`docs/benchmarks/${runtime}.md`, runtimeTables(runtime)]),
  ),
  "docs/benchmarks/tokio.md": TOKIO_TABLES,
  "docs/benchmarks/cold-and-sporadic.md": COLD_TABLES,
  "docs/benchmarks/streams.md": STREAM_TABLES,
  "docs/benchmarks/http.md": HTTP_TABLES,
  "docs/benchmarks/concurrency.md": CONCURRENCY_TABLES,
  "docs/benchmarks/programs.md": PROGRAM_TABLES,
  "docs/benchmarks/nats.md": NATS_TABLES,
  "docs/benchmarks/shared.md": SHARED_TABLES,
  "docs/benchmarks/browser.md": BROWSER_TABLES,
  "docs/browser.md": BROWSER_FIGURES,
};

const begin = (name: string): string => `<!-- ${name}, from results/ -->`;
const end = (name: string): string => `<!-- end of ${name} -->`;

export const readDocument = (file: string): string => readFileSync(new URL(file, root), "utf8");

/** The text between the marks of a table. */
export function tableIn(document: string, name: string): string {
  const [, after = ""] = document.split(begin(name));
  return after.split(end(name))[0]!.trim();
}

/** Replaces the text between the marks of every table. */
export function withTables(document: string, texts: (name: string) => string): string {
  return document.replaceAll(
    /<!-- ([^,>]+), from results\/ -->[^]*?<!-- end of \1 -->/g,
    (_, name: string) => `${begin(name)}\n\n${texts(name)}\n\n${end(name)}`,
  );
}

/** Puts the sentence of each chart under it. */
export const withMeanings = (document: string): string =>
  document.replaceAll(
    /(!\[[^\]]*\]\([^)]*graphs\/([\w-]+)\.png\))(?:\n\n_[^\n]*_)?$/gm,
    (_, image: string, name: string) => `${image}\n\n_${meaningOf(name)}_`,
  );

/** Pages with charts. */
const CHART_PAGES = ["docs/comparison.md", ...Object.keys(TABLES)];

if (import.meta.main) {
  for (const [file, tables] of Object.entries(TABLES)) {
    const document = readDocument(file);
    for (const name of Object.keys(tables)) {
      if (!document.includes(begin(name))) throw new Error(`${file} has no marks for ${name}`);
    }
    writeFileSync(new URL(file, root), withTables(document, (name) => tables[name]!()));
  }
  for (const file of CHART_PAGES) {
    writeFileSync(new URL(file, root), withMeanings(readDocument(file)));
  }
}
