/** Rules without a pool, and files in the workers of one: workers load the sources, not what Vitest has made of them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLintPool, lint, type LintPool, type Outcome } from "./lint.ts";
import { checkRules } from "./rules.ts";
import { sourceOf } from "./samples.ts";
import { tokenize } from "./tokenizer.ts";

const rulesOf = (text: string): string[] =>
  checkRules(text, tokenize(text)).map(({ line, rule }) => `${line} ${rule}`);

test.each([
  ["a template, a regular expression and a division", "f(`${a}}`, /[/]\\//g, b / c / d);", []],
  ["words in comments and strings", "// debugger var ==\nf('debugger == var');", []],
  ["debugger and var", "debugger;\nvar x = 1;\nf(x);", ["1 no-debugger", "2 no-var"]],
  ["loose equality", "f(a == b, a == null, a === b, a != b);", [
    "1 no-loose-equality",
    "1 no-loose-equality",
  ]],
  ["names that are not used", "const used = 1;\nconst left = used;\nexport const out = 1;", [
    "2 no-unused",
  ]],
  ["an empty block", "if (a) {}\nconst none = {};\nf(none, () => {});", ["1 no-empty-block"]],
  ["something left to do", "/* one\n */ // TODO: two", ["2 no-todo"]],
  ["same lines", `${"f(1);\n".repeat(8)}\n${"f(1);\n".repeat(8)}`, ["10 no-same-lines"]],
])("%s", (_name, text, problems) => {
  expect(rulesOf(text)).toEqual(problems);
});

let folder: string;
let pool: LintPool;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heddle-lint-test-"));
  pool = createLintPool(2);
});

afterAll(async () => {
  await pool.shutdown();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function outcomesOf(paths: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for await (const [, outcome] of lint(pool, paths, { signal })) outcomes.push(outcome);
  return outcomes;
}

const { signal } = new AbortController();

test("outcomes come in the order of the files, whatever takes long", async () => {
  const long = write("long.js", `var first;\n${sourceOf(0).repeat(20)}`);
  const short = write("short.js", "debugger;");
  const outcomes = await outcomesOf([long, short], signal);
  const rules = outcomes.map((each) => each.kind === "checked" && each.problems[0]?.rule);
  expect(rules).toEqual(["no-var", "no-debugger"]);
});

test("files that crash are named, and all others checked", async () => {
  const paths = Array.from({ length: 30 }, (_, n) => write(`good${n}.js`, "f();"));
  paths[3] = write("crash.js", "// crash");
  paths[7] = write("overflow.js", "// overflow");
  paths[9] = join(folder, "missing.js");
  const outcomes = await outcomesOf(paths, signal);
  const crashed = outcomes.flatMap((outcome, n) =>
    outcome.kind === "crashed" ? [[n, outcome.reason]] : []
  );
  expect(crashed).toEqual([
    [3, "its worker ended (exit code 3)"],
    [7, expect.stringMatching(/^RangeError/)],
    [9, expect.stringMatching(/ENOENT/)],
  ]);
  expect(outcomes.filter(({ kind }) => kind === "checked")).toHaveLength(27);
});

test("an abort skips what is left", async () => {
  const stop = new AbortController();
  const path = write("many.js", sourceOf(0));
  let done = 0;
  const outcomes: Outcome[] = [];
  const options = {
    signal: stop.signal,
    onFiles: (count: number) => (done += count) > 5 && stop.abort(),
  };
  for await (const [, outcome] of lint(pool, Array<string>(200).fill(path), options)) {
    outcomes.push(outcome);
  }
  expect(outcomes).toHaveLength(200);
  expect(outcomes.filter(({ kind }) => kind === "checked")).toHaveLength(done);
  expect(outcomes.at(-1)).toEqual({ kind: "skipped" });
});
