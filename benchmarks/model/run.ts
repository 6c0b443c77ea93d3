/**
 * Runs the model: `node benchmarks/model/run.ts [--write] [section …]`, all sections without a name.
 * Prints Markdown tables, or with `--write` puts them into README.md between their markers.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { SECTIONS } from "./sections.ts";

const README = fileURLToPath(new URL("README.md", import.meta.url));

/** Replaces what stands between the markers of a section. */
function put(text: string, name: string, lines: readonly string[]): string {
  const begin = `<!-- ${name} -->`;
  const end = `<!-- end of ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no markers for ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${lines.join("\n")}\n\n${text.slice(to)}`;
}

const names = process.argv.slice(2).filter((argument) => argument !== "--write");
const isWriting = process.argv.includes("--write");
for (const name of names.length > 0 ? names : Object.keys(SECTIONS)) {
  const section = SECTIONS[name];
  if (section === undefined) {
    throw new Error(`no section ${name}; there are ${Object.keys(SECTIONS).join(", ")}`);
  }
  const startedMs = performance.now();
  const lines = section();
  if (isWriting) writeFileSync(README, put(readFileSync(README, "utf8"), name, lines));
  else console.log(`## ${name}\n\n${lines.join("\n")}\n`);
  console.error(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}
