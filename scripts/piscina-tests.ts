/**
 * `node scripts/piscina-tests.ts [NAME…]`: runs the tests that Piscina's package contains against @heddle/piscina on Node 24, each in a
 * process of its own, in a temporary copy. Needs the build. Prints how many pass, and why the rest does not; ends with 1 if a failure
 * has no entry in `EXPECTED`.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const node = join(modules, "node24/bin/node");
const TIMEOUT_MS = 20_000;

/** Tests of its threads' priorities, which a native package sets: they import that as well. */
const LEFT_OUT = ["nice.test.js"];
const BLOCKS = "the host blocks before the worker has started";

/** Why tests fail that do, by the beginning of their names. */
const EXPECTED: Readonly<Record<string, string>> = {
  "tasks can be aborted through AbortController while running": BLOCKS,
  "tasks can be aborted through EventEmitter while running": BLOCKS,
  "coverage test for Atomics optimization (sync mode)": BLOCKS,
  "enable async mode": BLOCKS,
  "tasks can share a Worker if requested (both tests finish)": BLOCKS,
  "postTask() calls the correct async hooks": "tasks make no async resource",
  "Exports match own property names":
    'the ES module has the name "module.exports" as well, for require()',
};

/** Where the tests find `..` and `../dist/…`: @heddle/piscina, and what their inner imports would have. */
const SHIMS: Readonly<Record<string, string>> = {
  "package.json": readFileSync(join(modules, "piscina/package.json"), "utf8")
    .replace("./dist/main.js", "./index.js"),
  "index.js": 'module.exports = require("@heddle/piscina");',
  "dist/index.js": 'module.exports = require("@heddle/piscina");',
  "dist/esm-wrapper.mjs": `export * from "@heddle/piscina";
export { default } from "@heddle/piscina";`,
  "dist/symbols.js": `const { queueOptionsSymbol, transferableSymbol, valueSymbol } = require("..");
module.exports = { kQueueOptions: queueOptionsSymbol, kTransferable: transferableSymbol, kValue: valueSymbol };`,
  "dist/common.js": `const { move, transferableSymbol, valueSymbol } = require("..");
exports.getAvailableParallelism = require("node:os").availableParallelism;
exports.isTransferable = (value) => value != null && typeof value === "object" && transferableSymbol in value && valueSymbol in value;
exports.isMovable = (value) => exports.isTransferable(value) && Symbol.for("heddle.piscina.moved") in value;
exports.markMovable = move;`,
  "node_modules/concat-stream/index.js":
    `module.exports = (done) => { let text = ""; return new (require("node:stream").Writable)({
  decodeStrings: false, write(chunk, _encoding, next) { text += chunk; next(); }, final(next) { done(text); next(); } }); };`,
};

function writeCopy(folder: string): void {
  for (const [path, text] of Object.entries(SHIMS)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mkdirSync(join(folder, "node_modules/@heddle"));
  symlinkSync(
    join(modules, "../packages/piscina"),
    join(folder, "node_modules/@heddle/piscina"),
    "dir",
  );
  cpSync(join(modules, "piscina/test"), join(folder, "test"), { recursive: true });
  for (const name of readdirSync(join(folder, "test"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const file = join(folder, "test", name);
    const { code } = transformSync(readFileSync(file, "utf8"), { loader: "ts", format: "cjs" });
    // Workers are named as they are; their code is CommonJS, as Piscina's own build of it.
    writeFileSync(name.endsWith(".test.ts") ? file.replace(/ts$/, "js") : file, code);
  }
}

/** Names of the tests of a file, as its source has them. */
function namesIn(file: string): Set<string> {
  const calls = readFileSync(file, "utf8").matchAll(/\.(?:test|it)\)\("((?:[^"\\]|\\.)*)"/g);
  return new Set([...calls].map(([, name]) => JSON.parse(`"${name}"`) as string));
}

function passes(file: string, name: string): boolean {
  const pattern = `^${name.replaceAll(/[[\]().*+?^$|\\{}/]/g, String.raw`\$&`)}$`;
  const args = ["--test", "--test-timeout=15000", `--test-name-pattern=${pattern}`, file];
  const { status } = spawnSync(node, args, { timeout: TIMEOUT_MS, killSignal: "SIGKILL" });
  return status === 0;
}

const folder = mkdtempSync(join(tmpdir(), "heddle-piscina-"));
try {
  writeCopy(folder);
  const wanted = process.argv.slice(2);
  let passed = 0;
  const failed: string[] = [];
  for (const name of readdirSync(join(folder, "test"))) {
    if (!name.endsWith(".test.js") || LEFT_OUT.includes(name)) continue;
    const file = join(folder, "test", name);
    for (const test of namesIn(file)) {
      if (wanted.length > 0 && !wanted.some((part) => test.includes(part))) continue;
      if (passes(file, test)) passed++;
      else failed.push(test);
    }
  }
  const reasonOf = (test: string): string | undefined =>
    Object.entries(EXPECTED).find(([begin]) => test.startsWith(begin))?.[1];
  for (const test of failed) console.log(`${test}: ${reasonOf(test) ?? "UNEXPECTED"}`);
  console.log(`${passed} of ${passed + failed.length} pass`);
  if (failed.some((test) => reasonOf(test) === undefined)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
