/** The tarball, unpacked into an empty project, on every runtime, as ES module and as CommonJS. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inFolder, link, pack, root, run, runtimes, unpack } from "../support/package.ts";

const tasks = `export const add = (a, b) => a + b;\n`;
const esm = `
import { createPool } from "heddle";
const pool = createPool({ threads: 1 })(new URL("./tasks.mjs", import.meta.url));
console.log(await pool.call.add(20, 22));
await pool.shutdown();
`;
/** Bare functions, a declared task with a struct, and objects of both copies: CommonJS here, ES module there. */
const commonJs = `
const { createPool, isMain, Envelope, StructError, transfer } = require("heddle");
const { f64, struct, task, view } = require("heddle/task");
exports.add = (a, b) => a + b;
exports.mirror = task({ args: [struct({ x: f64, y: f64 })], f: ({ x, y }) => ({ x: y, y: x }) });
exports.show = task({ args: [view(struct({ x: f64 }))], f: (shown) => shown });
exports.wrap = (bytes) => new Envelope({ length: bytes.length }, bytes);
async function run() {
  const modules = await import("heddle");
  const { add, mirror, show, wrap } = exports;
  const pool = createPool({ threads: 1 })({ add, mirror, show, wrap });
  const { x } = await pool.call.mirror({ x: 1, y: 2 });
  const bytes = new Uint8Array(8);
  const wrapped = await pool.call.wrap(modules.transfer(bytes));
  const error = await pool.call.mirror({ x: "1", y: 2 }).catch((error) => error);
  const refusal = await pool.call.show({ x: 1 }).catch(({ message }) => message);
  await pool.shutdown();
  console.log(
    await require("./relative.cjs").call(), x, bytes.length, modules !== require("heddle"),
    wrapped instanceof Envelope && wrapped instanceof modules.Envelope && wrapped.header.length,
    error instanceof StructError && error instanceof modules.HeddleError && error.code,
    refusal.includes("it is a view"),
  );
}
if (isMain) void run();
`;
/** The module of the caller is on the stack here too. */
const relative = `
const { createPool } = require("heddle");
exports.call = async () => {
  const pool = createPool({ threads: 1 })("./tasks.mjs");
  try {
    return await pool.call.add(1, 2);
  } finally {
    await pool.shutdown();
  }
};
`;

function writeProgram(project: string): void {
  mkdirSync(project, { recursive: true });
  const files = { "tasks.mjs": tasks, "main.mjs": esm, "main.cjs": commonJs };
  for (const [name, text] of Object.entries({ ...files, "relative.cjs": relative })) {
    writeFileSync(join(project, name), text);
  }
}

async function expectToRun(project: string, names = Object.keys(runtimes)): Promise<void> {
  for (const name of names) {
    expect([name, await run([...runtimes[name]!, "main.mjs"], project)]).toEqual([name, "42"]);
    expect([name, await run([...runtimes[name]!, "main.cjs"], project)])
      .toEqual([name, "3 2 0 true 8 HEDDLE_STRUCT_MISMATCH true"]);
  }
}

test("an empty project", () =>
  inFolder(async (folder) => {
    unpack(pack(folder).tarball, folder);
    writeProgram(folder);
    await expectToRun(folder);
  }));

/** Neither the program nor its tasks have loaded heddle/shared when the first handle arrives, on either side. */
const sharing = (load: (name: string) => string, format: string): string => `
const { createPool } = ${load("heddle")};
async function main() {
  const pool = createPool({ threads: 1 })("./sharing-tasks.mjs");
  const other = createPool({ threads: 1 })("./making-tasks.mjs");
  await pool.ready;
  const made = await other.call.make();
  const { Mutex, SharedMap } = ${load("heddle/shared")};
  const mutex = new Mutex();
  await pool.call.die(mutex).catch(() => {});
  const lock = await mutex.lock().catch((error) => error.code);
  console.log("${format}", made instanceof SharedMap, await pool.call.get(made), lock);
  await Promise.all([pool.shutdown(), other.shutdown()]);
}
void main();
`;
const sharingTasks = `
export const get = (map) => map.get("key");
export const die = (mutex) => {
  mutex.lockSync();
  process.exit(0);
};
`;
const makingTasks = `
import { SharedMap } from "heddle/shared";
export const make = () => new SharedMap().set("key", 4);
`;

test("shared objects load their code where they arrive", () =>
  inFolder(async (folder) => {
    unpack(pack(folder).tarball, folder);
    const files = {
      "sharing-tasks.mjs": sharingTasks,
      "making-tasks.mjs": makingTasks,
      "main.mjs": sharing((name) => `await import("${name}")`, "esm"),
      "main.cjs": sharing((name) => `require("${name}")`, "cjs"),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    for (const [name, command] of Object.entries(runtimes)) {
      for (const [file, format] of [["main.mjs", "esm"], ["main.cjs", "cjs"]] as const) {
        const output = await run([...command, file], folder);
        expect([name, output]).toEqual([name, `${format} true 4 HEDDLE_POISONED`]);
      }
    }
  }));

test("stacks show places of the installed files", () =>
  inFolder(async (folder) => {
    unpack(pack(folder).tarball, folder);
    writeFileSync(
      join(folder, "main.mjs"),
      `import { readFileSync } from "node:fs";
      import { struct } from "heddle";
      try {
        struct(5);
      } catch (error) {
        const [, file, line] = /(\\/\\S+\\/dist\\/\\S+):(\\d+):\\d+/.exec(error.stack);
        console.log(readFileSync(file, "utf8").split("\\n")[line - 1]);
      }`,
    );
    for (const [name, command] of Object.entries(runtimes)) {
      const output = await run([...command, "main.mjs"], folder);
      expect([name, output]).toEqual([name, expect.stringContaining("InvalidArgumentError(")]);
    }
  }));

test("the layout of pnpm: a link into a store", () =>
  inFolder(async (folder) => {
    const store = "node_modules/.pnpm/heddle@0.1.0/node_modules/heddle";
    unpack(pack(folder).tarball, folder, store);
    symlinkSync(join(folder, store), join(folder, "node_modules/heddle"));
    writeProgram(folder);
    await expectToRun(folder, ["Node 22", "Node 26", "Bun"]);
  }));

test("a folder that may only be read", () =>
  inFolder(async (folder) => {
    const project = join(folder, "project");
    mkdirSync(project);
    unpack(pack(folder).tarball, project);
    writeProgram(project);
    const paths = [
      project,
      ...readdirSync(project, { recursive: true, encoding: "utf8" })
        .map((path) => join(project, path)),
    ];
    const setWritable = (bits: number) => paths.forEach((path) => chmodSync(path, bits));
    setWritable(0o555);
    const before = readdirSync(project, { recursive: true }).length;
    try {
      await expectToRun(project, ["Node 22", "Node 26", "Bun"]);
      expect(readdirSync(project, { recursive: true }).length).toBe(before); // root may write
    } finally {
      setWritable(0o755);
    }
  }));

test("programs compiled by tsc to CommonJS find the types and run", () =>
  inFolder(async (folder) => {
    unpack(pack(folder).tarball, folder);
    link("@types/node", folder);
    writeFileSync(join(folder, "tasks.mjs"), tasks);
    writeFileSync(
      join(folder, "main.cts"),
      `import { createPool, HeddleError } from "heddle";
      import { task } from "heddle/task";
      import type { Task } from "heddle/task";
      const twice: Task<(n: number) => number> = task({ f: (n: number) => 2 * n });
      type Tasks = { add(a: number, b: number): number };
      export async function run(): Promise<number> {
        const pool = createPool({ threads: 1 })<Tasks>("./tasks.mjs");
        const sum: number = await pool.call.add(twice.f(4), 2);
        // @ts-expect-error -- strings are no numbers
        const wrong = pool.call.add("4", 2);
        await wrong.catch((error: unknown) => error instanceof HeddleError);
        await pool.shutdown();
        return sum;
      }
      void run().then((sum) => console.log(sum));`,
    );
    const tsc = join(root, "node_modules/typescript/lib/tsc.js");
    const flags = ["--strict", "--module", "node16", "--target", "es2022", "--lib", "esnext,dom"];
    const [node] = runtimes["Node 26"]!;
    expect(await run([node!, tsc, ...flags, "--types", "node", "main.cts"], folder)).toBe("");
    expect(await run([node!, "main.cjs"], folder)).toBe("10");
  }));
