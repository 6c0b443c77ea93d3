/** Files and functions that can be read at one sitting. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCE = new URL("../../../src", import.meta.url).pathname;
const MAX_FILE_LINES = 450;
const MAX_FUNCTION_LINES = 60;

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), "utf8") }));

function nameOf(node: ts.Node): string {
  const named = node as ts.Node & { readonly name?: ts.Node };
  return named.name?.getText() ?? (ts.isConstructorDeclaration(node) ? "constructor" : "function");
}

/** Functions of more lines than that, with how many they have. */
function findLong(name: string, text: string, max: number): string[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line;
  const long: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const lines = lineOf(node.end) - lineOf(node.getStart()) + 1;
      if (lines > max) long.push(`${name} ${nameOf(node)}: ${lines}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return long;
}

test(`no file is longer than ${MAX_FILE_LINES} lines`, () => {
  const long = files.map(({ name, text }) => ({ name, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > MAX_FILE_LINES);
  expect(files.length).toBeGreaterThan(50);
  expect(long).toEqual([]);
});

test(`no function is longer than ${MAX_FUNCTION_LINES} lines`, () => {
  expect(files.flatMap(({ name, text }) => findLong(name, text, MAX_FUNCTION_LINES))).toEqual([]);
});

test("the check finds functions of every kind", () => {
  const text = "class A { constructor() {\n} b = () => {\n}; get c() {\n} }\nfunction d() {\n}";
  expect(findLong("f", text, 1)).toEqual([
    "f constructor: 2",
    "f function: 2",
    "f c: 2",
    "f d: 2",
  ]);
});
