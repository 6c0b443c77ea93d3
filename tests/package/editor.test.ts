/** What an editor shows of the built package, and what the compiler writes for a library that exports its functions. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const folder = mkdtempSync(join(tmpdir(), "heddle-editor-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules", "heddle"), "dir");
afterAll(() => rmSync(folder, { recursive: true }));

const TASKS = `
import { f64, struct, task } from "heddle/task";
export const resize = (image: Uint8Array, options: { width: number; height?: number }): Uint8Array =>
  options.width > 0 ? image : image;
export async function load(url: string, retries = 3): Promise<string[]> { return [url + retries]; }
export function* count(to: number): Generator<number, string> { yield to; return ""; }
export async function pick<T extends object, K extends keyof T>(value: T, key: K): Promise<T[K]> {
  return value[key];
}
export function parse(text: string): object;
export function parse(bytes: Uint8Array, encoding: string): object[];
export function parse(given: unknown): object { return [given]; }
export const Point = struct({ x: f64, y: f64 });
export const norm = task({ args: [Point], f: ({ x, y }) => Math.hypot(x, y) });
export const waits = task({ abortSignal: true, f: (n: number, signal: AbortSignal) => signal.aborted ? 0 : n });
`;

const MAIN = `
import { createPool, importTask, task } from "heddle";
import { norm } from "./tasks.ts";
export const pool = createPool()<typeof import("./tasks.ts")>("./tasks.ts");
export const { resize, load, count, pick, parse, norm: length, waits } = pool.call;
export const { load: loads } = pool.broadcast;
export const timed = pool.call.load.with({ timeoutMs: 1 });
export const either = pool.call.load.with({ timeoutMs: 1, timeoutValue: 0 });
export const results = pool.map(pool.call.load, ["a"]);
export const declared = task({ f: (n: number) => n });
export const imported = importTask<typeof norm>({ href: "./tasks.ts", name: "norm" });
export const other = createPool()({ declared, imported });
export const late = other.call.declared;
`;

const files: Record<string, string> = {
  [join(folder, "tasks.ts")]: TASKS,
  [join(folder, "main.ts")]: MAIN,
};
for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: [],
};
const main = join(folder, "main.ts");
const service = ts.createLanguageService({
  getScriptFileNames: () => [main],
  getScriptVersion: () => "1",
  getScriptSnapshot: (path) =>
    ts.sys.fileExists(path) ? ts.ScriptSnapshot.fromString(readFileSync(path, "utf8")) : undefined,
  getCurrentDirectory: () => folder,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

/** What the editor shows for a name in the main file, in one line. */
function hoverOf(name: string): string {
  const at = MAIN.search(new RegExp(`\\b${name}\\b(?!:)`));
  const info = service.getQuickInfoAtPosition(main, at);
  return ts.displayPartsToString(info?.displayParts).replaceAll(/\s+/g, " ");
}

describe("an editor shows", () => {
  test.each([
    ["pool", 'const pool: Pool<typeof import("./tasks.ts")>'],
    ["load", "const load: Call<(url: string, retries?: number) => Promise<string[]>>"],
    ["count", "const count: Call<(to: number) => Generator<number, string>>"],
    ["waits", "const waits: Call<(n: number) => number>"],
    ["loads", "const loads: BroadcastCall<(url: string, retries?: number) => Promise<string[]>>"],
    ["timed", "const timed: Call<(url: string, retries?: number) => Promise<string[]>>"],
    [
      "either",
      "const either: CallWithFallback<(url: string, retries?: number) => Promise<string[]>, number>",
    ],
    ["late", "const late: Call<(n: number) => number>"],
    [
      "resize",
      "const resize: Call<(image: Uint8Array, options: { width: number; height?: number; }) => Uint8Array>",
    ],
    [
      "pick",
      "const pick: Call<(<T extends object, K extends keyof T>(value: T, key: K) => Promise<T[K]>)>",
    ],
    [
      "parse",
      "const parse: Call<{ (text: string): object; (bytes: Uint8Array, encoding: string): object[]; }>",
    ],
  ])("the user's own signature for %s", (name, text) => {
    expect(hoverOf(name)).toBe(text);
  });

  test("the docs of an option where it is written", () => {
    const at = MAIN.indexOf("timeoutMs: 1");
    const info = service.getQuickInfoAtPosition(main, at);
    expect(ts.displayPartsToString(info?.documentation)).toContain("in milliseconds");
    expect(info?.tags?.find(({ name }) => name === "default")?.text?.[0]?.text).toBe(
      "Infinity, no limit",
    );
  });
});

test("a library that exports calls, tasks and pools gets declarations that name only public types", () => {
  const program = ts.createProgram([main], { ...options, outDir: join(folder, "out") });
  const errors = [...program.getSemanticDiagnostics(), ...program.getDeclarationDiagnostics()];
  expect(errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")))
    .toEqual([]);
  program.emit();
  const text = readFileSync(join(folder, "out", "main.d.ts"), "utf8");
  expect(text).toContain('pool: import("heddle").Pool<typeof import("./tasks.ts")>');
  expect(text).not.toContain("heddle/dist");
});
