/** docs/errors.md has a section for each error of the sources, and no other. */
import { expect, test } from "vitest";
import { errorClasses } from "../../src/errors.ts";
import { InstallationError } from "../../src/installation-error.ts";
import { sharedErrorClasses } from "../../src/shared-errors.ts";
import { blocksIn, readPage } from "./blocks.ts";

const page = readPage("docs/errors.md");
const files = [
  "errors.ts",
  "installation-error.ts",
  "request-errors.ts",
  "scope-errors.ts",
  "shared-errors.ts",
];
const sources = files.map((file) => readPage(`src/${file}`)).join("\n");

/** Code and class, as the sources have them. */
const declared = new Map(
  [...sources.matchAll(/class (\w+) extends HeddleError \{[^]*?"(HEDDLE_\w+)"/g)]
    .map(([, name = "", code = ""]) => [code, name]),
);

const sections = new Map(
  page.split(/^## /m).slice(1).map((text) => [text.split("\n")[0]!, text]),
);

test("every class has a code", () => {
  const names = Object.keys({ ...errorClasses, ...sharedErrorClasses, InstallationError })
    .filter((name) => name !== "HeddleError");
  expect([...declared.values()].sort()).toEqual(names.sort());
});

test("every code has a section, and every section a code", () => {
  expect([...sections.keys()].sort()).toEqual([...declared.keys()].sort());
});

test.each([...declared])("%s has its class, cause and fix", (code, name) => {
  const section = sections.get(code)!;
  expect(section).toContain(`\n\n\`${name}\`: `);
  expect(section).toContain("\n\n**Cause.** ");
  expect(section).toContain("\n\n**Fix.** ");
});

test("every code is in the table of what has run", () => {
  const [table = ""] = page.split("## HEDDLE_");
  for (const code of declared.keys()) expect(table).toContain(`\`${code}\``);
  expect(blocksIn("docs/errors.md", page)).toHaveLength(1);
});
