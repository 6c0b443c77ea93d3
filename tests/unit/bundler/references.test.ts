import { expect, test } from "vitest";
import { replaceReferences } from "../../../src/bundler/references.ts";

/** The specifiers that are found, and the code with `X` in their place. */
async function replace(code: string): Promise<[string[], string | undefined]> {
  const found: string[] = [];
  const replaced = await replaceReferences(code, (specifier) => {
    found.push(specifier);
    return "X";
  });
  return [found, replaced];
}

test.each([
  [`f(new URL("./a.ts?pool", import.meta.url))`, "./a.ts", "f(new URL(X))"],
  ["new  URL(\n  './a.ts?pool',\n  import.meta.url,\n);", "./a.ts", "new URL(X)\n\n\n;"],
  ["new URL(`../b/a.ts?pool`, import.meta.url).href", "../b/a.ts", "new URL(X).href"],
  [`new URL("a.ts?pool", import.meta.url)`, "./a.ts", "new URL(X)"],
  [`g(import.meta.resolve("pkg/tasks?pool"))`, "pkg/tasks", "g(X)"],
  [`/["'\`/*]/.test(t); new URL("./a.ts?pool", import.meta.url)`, "./a.ts", undefined],
  [`<p>It's</p>;\nnew URL("./a.ts?pool", import.meta.url)`, "./a.ts", undefined],
  ["`a ${`b`} c`; new URL('./a.ts?pool', import.meta.url)", "./a.ts", undefined],
  [`const q = a / b; const s = "//"; new URL("./a.ts?pool", import.meta.url)`, "./a.ts", undefined],
])("%s", async (code, specifier, expected) => {
  const [found, replaced] = await replace(code);
  expect(found).toEqual([specifier]);
  if (expected !== undefined) expect(replaced).toBe(expected);
});

test.each([
  [`new URL("./a.ts", import.meta.url)`],
  [`new URL("./a.png?pool=1", import.meta.url)`],
  [`new URL("./a.ts?pool", location.href)`],
  [`new URL("./a.ts?pool#b", import.meta.url)`],
  [`// new URL("./a.ts?pool", import.meta.url)`],
  [`/* new URL("./a.ts?pool", import.meta.url) */`],
  [`'new URL("./a.ts?pool", import.meta.url)'`],
  ["`\n import.meta.resolve('./a.ts?pool')`"],
  [`import tasks from "./a.ts?pool"`],
])("nothing in %s", async (code) => {
  expect(await replace(code)).toEqual([[], undefined]);
});

test("several in one source, in their order", async () => {
  const code = `[new URL("./a.ts?pool", import.meta.url), import.meta.resolve("./b.ts?pool"), 3]`;
  expect(await replace(code)).toEqual([["./a.ts", "./b.ts"], "[new URL(X), X, 3]"]);
});
