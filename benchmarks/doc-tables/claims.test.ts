/** What README, docs and captions say about measurements is what `results/` say. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MEANINGS } from "../../graphs/meanings.ts";
import { claims } from "./claims.ts";

const root = new URL("../../", import.meta.url);
const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
const read = (file: string): string => plain(readFileSync(new URL(file, root), "utf8"));
const captions = Object.values(MEANINGS).join(" ");

test.each(claims())("$file: $text", ({ file, text, holds }) => {
  expect(file === "caption" ? captions : read(file)).toContain(text);
  expect(holds).toBe(true);
});

/** Pages on which each sentence with a time, a ratio or a share is one of the claims, or says below why it is none. */
const PAGES = [
  "README.md",
  "docs/comparison.md",
  "docs/index.md",
  "docs/when-workers-pay.md",
  "docs/shared.md",
];
const FIGURE = /\b\d[\d.,]*(?: (?:to|and) \d[\d.,]*)? ?(?:×|%|times|µs|ns|ms|GB\/s|MiB)(?!\w)/;

/** Not measured: how heddle is made. */
const SETTINGS: readonly RegExp[] = [
  /counts as dead 100 ms later/,
  /throw `WaitTimeoutError` after 250 ms/,
  /they may take 100 ms, once/,
];

/** Text without code, generated tables and table rows. */
function prose(file: string): string {
  return readFileSync(new URL(file, root), "utf8")
    .replaceAll(/```[^]*?```/g, "")
    .replaceAll(/<!-- ([^,>]+), from results\/ -->[^]*?<!-- end of \1 -->/g, "")
    // Captions are compared above.
    .split("\n").filter((line) => !/^[|_]/.test(line)).join("\n");
}

test.each(PAGES)("%s has no figure beside the claims", (file) => {
  const sentences = prose(file).split(/\n\s*\n|\n- /).flatMap((paragraph) =>
    plain(paragraph).split(/(?<=[.:;]) /)
  );
  const own = claims().filter((each) => each.file === file).map(({ text }) => text);
  const unknown = sentences.map((sentence) => sentence.trim()).filter((sentence) =>
    FIGURE.test(sentence) && !SETTINGS.some((each) => each.test(sentence)) &&
    !own.some((text) => text.includes(sentence) || sentence.includes(text))
  );
  expect(unknown).toEqual([]);
});
