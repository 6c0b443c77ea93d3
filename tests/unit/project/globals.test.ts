/**
 * Globals are read when heddle is loaded, by src/builtins.ts and src/runtimes: a DOM environment or a polyfill that replaces
 * them later must not change what heddle does.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { LANGUAGE_CORE } from "../../fixtures/replaced/globals.ts";

const root = fileURLToPath(new URL("../../../src", import.meta.url));

/** Read at every use on purpose. */
const LATE: Readonly<Record<string, readonly string[]>> = {
  // The program's own, so that it may replace it: what is printed, and the responses of its server.
  console: [
    "runtimes/browser/adapter.ts",
    "runtimes/browser/host.ts",
    "runtimes/browser/threads.ts",
    "runtimes/host.ts",
    "runtimes/node-api/process/redirect-output.ts",
  ],
  Response: ["dashboard/dashboard.ts"],
  // In functions that run when heddle is loaded.
  navigator: ["runtimes/browser/adapter.ts", "runtimes/node-api/common.ts"],
  // Only when a worker's script was not loaded, or is of another origin.
  fetch: ["runtimes/browser/threads.ts"],
  Blob: ["runtimes/browser/threads.ts"],
  // Cannot be replaced.
  Deno: ["runtimes/deno.ts"],
  Bun: ["runtimes/node-api/threads/threads.ts"],
  // Before the adapter has said where the original is.
  ReadableStream: ["builtins.ts"],
};
/** May read globals at their top level, which runs when heddle is loaded: the base of public errors has to be the global type. */
const READS_AT_LOAD = /^(?:builtins\.ts|errors\.ts|runtimes\/.*|nats\/options\.ts)$/;
/** Runs in browsers: the script of the dashboard's page. */
const NOT_OURS = ["dashboard/page-script.ts"];

const allowed: ReadonlySet<string> = new Set([
  ...LANGUAGE_CORE,
  "globalThis",
  "undefined",
  "NaN",
  "Infinity",
]);
const globals: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ..."Deno Bun EventSource MessagePort ReadableStream Response SuppressedError".split(" "),
]);

/** Whether `node` names a property or a declaration, and reads no variable. */
function isName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.expression.getText() === "globalThis") {
    return false;
  }
  if (ts.isShorthandPropertyAssignment(parent) || ts.isExportSpecifier(parent)) return false;
  const { name, propertyName } = parent as { readonly name?: ts.Node; propertyName?: ts.Node };
  return name === node || propertyName === node;
}

/** Names that a file declares or imports, in any scope. */
function declarationsOf(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const { name } = node as { readonly name?: ts.Node };
    const isValue = ts.isVariableDeclaration(node) || ts.isParameter(node) ||
      ts.isBindingElement(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) ||
      (ts.isImportSpecifier(node) && !node.isTypeOnly && !node.parent.parent.isTypeOnly);
    if (isValue && name !== undefined && ts.isIdentifier(name)) names.add(name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/** Globals that the code reads: `name:line`. With `isLateOnly`, only in functions and in fields of instances. */
function findReads(path: string, text: string, isLateOnly: boolean): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const declared = declarationsOf(source);
  const found: string[] = [];
  const visit = (node: ts.Node, isLate: boolean): void => {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isModuleDeclaration(node)) return;
    if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return;
    if (ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword) return;
    if (ts.isVariableStatement(node) && node.getText().startsWith("declare")) return;
    if (ts.isIdentifier(node) && !isName(node) && (isLate || !isLateOnly)) {
      const { text: name } = node;
      if (
        globals.has(name) && !allowed.has(name) && !declared.has(name) &&
        !LATE[name]?.includes(path)
      ) {
        found.push(
          `${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${name}`,
        );
      }
    }
    const runsLate = ts.isFunctionLike(node) || ts.isPropertyDeclaration(node);
    ts.forEachChild(node, (child) => visit(child, isLate || runsLate));
  };
  visit(source, false);
  return found;
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({
    path: path.split(sep).join("/"),
    text: readFileSync(join(root, path), "utf8"),
  }))
  .filter(({ path }) => !NOT_OURS.includes(path));

test("no file reads a global that a program may have replaced", () => {
  const reads = files.flatMap(({ path, text }) => findReads(path, text, READS_AT_LOAD.test(path)));
  expect(files.length).toBeGreaterThan(100);
  expect(reads, "import these from src/builtins.ts").toEqual([]);
});

test("every exception is needed", () => {
  for (const [name, paths] of Object.entries(LATE)) {
    for (const path of paths) {
      const { text } = files.find((file) => file.path === path)!;
      expect([path, new RegExp(`\\b${name}\\b`).test(text)]).toEqual([path, true]);
    }
  }
});

test("the check finds reads of every kind", () => {
  const text = `import { Map } from "./builtins.ts";
import { type Set, x } from "./x.ts";
const a: Promise<Map<string, URL>> = new Map();
class A extends Error { b = new Set(); c(): WeakMap<never, 1> { return x instanceof Blob ? x.Date : { Date, Proxy: 1 }; } }
export const b = globalThis.Blob;
export const f = (): unknown => Object.keys(new Promise(globalThis.queueMicrotask));`;
  expect(findReads("f.ts", text, false)).toEqual([
    "f.ts:4 Error",
    "f.ts:4 Set",
    "f.ts:4 Blob",
    "f.ts:4 Date",
    "f.ts:5 Blob",
    "f.ts:6 Promise",
    "f.ts:6 queueMicrotask",
  ]);
  expect(findReads("f.ts", text, true)).toEqual([
    "f.ts:4 Set",
    "f.ts:4 Blob",
    "f.ts:4 Date",
    "f.ts:6 Promise",
    "f.ts:6 queueMicrotask",
  ]);
});
