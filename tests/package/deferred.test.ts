/** Parts that are read when they are first needed: what a start reads, and what happens where a part cannot be read. */
import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inFolder, run, runtimes, useProject } from "../support/package.ts";

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
