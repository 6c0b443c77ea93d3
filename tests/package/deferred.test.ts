/** Parts that are read when they are first needed: what a start reads, and what happens where a part cannot be read. */
import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { inFolder, link, run, runtimes, useProject } from "../support/package.ts";

const project = useProject();
const dist = (): string => join(project.folder, "node_modules/heddle/dist");
const folders = ["deferred", "deferred-worker"] as const;

/** Uses a part of the host and one of the worker in each line. */
const everything = `
import { createPool, callback, isMain, struct, f64, task } from "heddle";
export const count = function* (n) { for (let k = 0; k < n; k++) yield k; };
export const echo = (value) => value;
export const ask = async (f) => await f(20);
export const slow = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const Point = struct({ x: f64 });
export const move = task({ args: [Point], returns: Point, f: ({ x }) => ({ x: x + 1 }) });
if (isMain) {
  const pool = createPool({ threads: 2, metrics: true })({ count, echo, ask, slow, move });
  console.log(await pool.call.echo(1));
  console.log(await pool.call.count(3).toArray());
  console.log(String(await pool.call.echo(/a/g)));
  console.log(await pool.call.ask(callback((n) => n + 1)));
  console.log(await pool.map(pool.call.echo, [1, 2, 3]));
  console.log(await pool.call.slow.with({ timeoutMs: 5 })(1e4).catch((error) => error.code));
  console.log(pool.sync.echo(5), (await pool.call.move({ x: 1 })).x);
  await pool.broadcast.echo(6);
  const scope = pool.scope();
  console.log(await scope.call.echo(7), pool.stats().tasks.length > 0);
  await scope[Symbol.asyncDispose]();
  await pool.shutdown();
}
`;
const EVERYTHING = "1\n[ 0, 1, 2 ]\n/a/g\n21\n[ 1, 2, 3 ]\nHEDDLE_TIMEOUT\n5 2\n7 true";

test.each(Object.keys(runtimes))("each part is read when it is needed, on %s", async (name) => {
  writeFileSync(join(project.folder, "everything.mjs"), everything);
  const output = await run([...runtimes[name]!, "everything.mjs"], project.folder);
  // The runtimes print arrays in their ways.
  expect(output.replaceAll(/[[\]\s]+/g, " ")).toBe(EVERYTHING.replaceAll(/[[\]\s]+/g, " "));
});

test("bundlers that do not know the condition `module` find all parts", () =>
  inFolder(async (folder) => {
    const outfile = join(project.folder, "bundle.mjs");
    await build({
      stdin: { contents: everything, resolveDir: project.folder },
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: [],
      mainFields: ["main"],
      logLevel: "error",
      outfile,
    });
    renameSync(outfile, join(folder, "bundle.mjs"));
    for (const [name, command] of Object.entries(runtimes)) {
      const output = await run([...command, "bundle.mjs"], folder);
      const line = [name, output.replaceAll(/[[\]\s]+/g, " ")];
      expect(line).toEqual([name, EVERYTHING.replaceAll(/[[\]\s]+/g, " ")]);
    }
  }));

const missing = `
import { callback, createPool, isMain } from "heddle";
import { renameSync } from "node:fs";
export const ask = async (f) => await f(20);
export const echo = (value) => value;
export const slow = (ms) => new Promise((resolve) => setTimeout(resolve, ms, "slow"));
if (isMain) {
  const away = (name) => renameSync(name, name + ".away"), back = (name) => renameSync(name + ".away", name);
  const dist = process.argv[2];
  const pool = createPool({ threads: 1 })({ ask, echo, slow });
  const running = pool.call.slow(50);
  const f = callback((n) => n + 1);
  console.log(await pool.call.echo(1));
  for (const folder of ["deferred", "deferred-worker"]) away(dist + folder);
  const failed = ({ code, message, cause }) => code === "HEDDLE_INSTALLATION" && cause !== undefined || message;
  try { pool.map(pool.call.echo, [1]); console.log("no error"); } catch (error) { console.log(failed(error)); }
  console.log(await pool.call.echo(/a/).then(() => "no error", failed));
  console.log(await pool.call.echo.with({ timeoutMs: 1000 })(2).then((value) => value, failed));
  console.log(await running, await pool.call.echo({ a: [1] }).then(({ a }) => a[0]));
  back(dist + "deferred");
  console.log(await pool.call.ask(f).then(() => "no error", failed));
  back(dist + "deferred-worker");
  console.log(await pool.call.ask(f));
  console.log((await pool.map(pool.call.echo, [8]))[0], String(await pool.call.echo(/a/)));
  await pool.shutdown();
}
`;

test.each(Object.keys(runtimes))(
  "a call whose part cannot be read rejects, others go on, and later ones try again, on %s",
  async (name) => {
    writeFileSync(join(project.folder, "missing.mjs"), missing);
    const command = [...runtimes[name]!, "missing.mjs", `${dist()}/`];
    const output = await run(command, project.folder);
    expect(output).toBe("1\ntrue\ntrue\ntrue\nslow 1\ntrue\n21\n8 /a/");
  },
);

const lost = `
import { createPool, isMain } from "heddle";
import { emit } from "heddle/task";
import { renameSync } from "node:fs";
export const echo = (value) => value;
export const events = () => { emit(1); return 2; };
export const count = function* () { yield 1; };
export const slow = (ms) => new Promise((resolve) => setTimeout(resolve, ms, "slow"));
if (isMain) {
  const [, , dist, folder, ms, ...names] = process.argv;
  const pool = createPool({ threads: 1 })({ count, echo, events, slow });
  await pool.call.echo(1);
  renameSync(dist + folder, dist + folder + ".away");
  const calls = {
    count: () => pool.call.count().toArray(),
    map: () => pool.map(pool.call.echo, [1]),
    events: () => pool.call.events.with({ onEvent() {} })(),
  };
  const running = pool.call.slow(Number(ms)).catch((error) => error.code);
  for (const name of names) console.log(name, await calls[name]().catch(({ code }) => code));
  console.log(await running);
  renameSync(dist + folder + ".away", dist + folder);
  console.log(await pool.call.count().toArray().then(String), await pool.call.echo(2));
  await pool.shutdown();
}
`;

test.each(Object.keys(runtimes))(
  "a worker that cannot read a part goes on, a host that cannot read what a worker sends stops that worker, on %s",
  async (name) => {
    writeFileSync(join(project.folder, "lost.mjs"), lost);
    const runIt = (...args: string[]): Promise<string> =>
      run([...runtimes[name]!, "lost.mjs", `${dist()}/`, ...args], project.folder);
    expect(await runIt("deferred-worker", "100", "count", "map", "events")).toBe(
      "count HEDDLE_INSTALLATION\nmap HEDDLE_INSTALLATION\nevents HEDDLE_INSTALLATION\nslow\n1 2",
    );
    expect(await runIt("deferred", "1000000000", "events")).toBe(
      "events HEDDLE_WORKER_LOST\nHEDDLE_WORKER_LOST\n1 2",
    );
  },
);

test.each(Object.keys(runtimes))("names on Object.prototype are no parts, on %s", async (name) => {
  writeFileSync(
    join(project.folder, "names.mjs"),
    `import { createPool, isMain } from "heddle";
    export const echo = (value) => value;
    if (isMain) {
      const pool = createPool({ threads: 1 })({ echo });
      await pool.call.echo(1);
      for (const name of ["map", "streams", "keys"]) Object.prototype[name] = () => {};
      console.log((await pool.map(pool.call.echo, [1, 2])).join());
      for (const name of ["map", "streams", "keys"]) delete Object.prototype[name];
      await pool.shutdown();
    }`,
  );
  expect(await run([...runtimes[name]!, "names.mjs"], project.folder)).toBe("1,2");
});

test("a split bundle, whose chunk with heddle is the entry of workers", async () => {
  writeFileSync(
    join(project.folder, "split.mjs"),
    `import { createPool, isMain } from "heddle";
    export const echo = (value) => value;
    if (isMain) {
      const pool = createPool({ threads: 1 })({ echo });
      console.log(await pool.call.echo(1), (await pool.map(pool.call.echo, [2])).join());
      await pool.shutdown();
    }`,
  );
  await inFolder(async (folder) => {
    await build({
      entryPoints: [join(project.folder, "split.mjs")],
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      conditions: [],
      mainFields: ["main"],
      logLevel: "error",
      outExtension: { ".js": ".mjs" },
      outdir: folder,
    });
    for (const [name, command] of Object.entries(runtimes)) {
      expect([name, await run([...command, "split.mjs"], folder)]).toEqual([name, "1 2"]);
    }
  });
});

test("in a realm of its own, parts have the classes of that realm", async () => {
  link("vitest", project.folder);
  writeFileSync(join(project.folder, "realm-tasks.mjs"), "export const echo = (value) => value;");
  writeFileSync(
    join(project.folder, "realm.test.mjs"),
    `import { expect, test } from "vitest";
    import { createPool } from "heddle";
    const url = new URL("./realm-tasks.mjs", import.meta.url);
    test.each([{}, { workers: "processes" }])("%o", async (options) => {
      const pool = createPool({ threads: 1, ...options })(url);
      expect(await pool.call.echo([, 1])).toBeInstanceOf(Array);
      expect(await pool.map(pool.call.echo, [1])).toStrictEqual([1]);
      expect(pool.stats().workers).toBeInstanceOf(Array);
      await pool.shutdown();
    });`,
  );
  const vitest = [...runtimes["Node 26"]!, "node_modules/vitest/vitest.mjs", "run"];
  const output = await run([...vitest, "--pool=vmThreads", "realm.test.mjs"], project.folder);
  expect(stripVTControlCharacters(output)).toMatch(/Tests +2 passed/);
});

test("a part of another build is refused", () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, "node_modules"));
    cpSync(join(project.folder, "node_modules/heddle"), join(folder, "node_modules/heddle"), {
      recursive: true,
    });
    const copy = join(folder, "node_modules/heddle/dist/deferred");
    for (const file of readdirSync(copy)) writeFileSync(join(copy, file), "exports.other = 1;\n");
    writeFileSync(
      join(folder, "main.mjs"),
      `import { createPool } from "heddle";
      const pool = createPool({ threads: 1 })("data:text/javascript,export const f = () => 1");
      console.log(await pool.call.f());
      try { pool.map; } catch (error) { console.log(error.message); }
      await pool.shutdown();`,
    );
    const output = await run([...runtimes["Node 26"]!, "main.mjs"], folder);
    expect(output).toMatch(
      /^1\nheddle was replaced while this program ran: deferred\/\w+\.cjs belongs to another build/,
    );
  }));

test("the package has parts of hosts and of workers", () => {
  for (const folder of folders) expect(existsSync(join(dist(), folder))).toBe(true);
});
