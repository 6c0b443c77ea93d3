/** Reading parts from files. The built package is tested in `tests/package/deferred.test.ts`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { createLoader } from "../../../src/runtimes/node-api/deferred-parts.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-parts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "parts"));
const url = pathToFileURL(join(folder, "main.js")).href;
const write = (name: string, text: string): void =>
  writeFileSync(join(folder, `parts/${name}.cjs`), text);
const carried = { two: 2 };

test("a part is made once, of what is carried and of other parts", () => {
  write("one", "exports.b1 = ({ two }, load) => ({ value: two + load('other').value });");
  write(
    "other",
    "globalThis.reads = (globalThis.reads ?? 0) + 1; exports.b1 = () => ({ value: 5 });",
  );
  const load = createLoader(url, "parts", "b1", {}, () => carried);
  expect(load("one")).toEqual({ value: 7 });
  expect(load("one")).toBe(load("one"));
  expect(load("other")).toBe(load("other"));
  expect((globalThis as { reads?: number }).reads).toBe(1);
});

test("where there is no file, the part of the bundle is taken", () => {
  const inBundle = { bundled: () => ({ b1: () => ({ value: 1 }) }) };
  for (const place of [url, undefined, "https://example.com/main.js"]) {
    const load = createLoader(place, "parts", "b1", inBundle, () => carried);
    expect(load("bundled")).toEqual({ value: 1 });
  }
});

test("the error of a file that cannot be read names it, and the next call tries again", () => {
  const noRequire = (): never => {
    throw new ReferenceError("require is not defined");
  };
  const load = createLoader(url, "parts", "b1", { late: noRequire }, () => carried);
  expect(() => load("late")).toThrow(/late\.cjs/);
  write("late", "exports.b1 = () => ({ value: 3 });");
  expect(load("late")).toEqual({ value: 3 });
});

test("a part of another build is refused", () => {
  write("old", "exports.b0 = () => ({ value: 0 });");
  const load = createLoader(url, "parts", "b1", {}, () => carried);
  expect(() => load("old")).toThrow(
    "parts/old.cjs belongs to another build. Start the program again.",
  );
});
