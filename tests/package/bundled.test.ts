/** heddle inside a bundle: which copy serves the workers, where they find it, and what they may do. */
import { build, type BuildOptions } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { inFolder, run, runtimes, unpack, useProject } from "../support/package.ts";

/** Another version, installed as `other`. */
const OTHER = "9.9.9";

const project = useProject(({ folder, tarball }) => {
  unpack(tarball, folder, "node_modules/other");
  const dist = join(folder, "node_modules/other/dist");
  const names = readdirSync(dist, { recursive: true, encoding: "utf8" });
  for (const name of names.filter((name) => name.endsWith(".js"))) {
    const file = join(dist, name);
    // The build breaks long texts into lines.
    const text = readFileSync(file, "utf8").replaceAll("\\\n", "");
    writeFileSync(file, text.replaceAll(VERSION, OTHER));
  }
});

/** Bundles a program into one file, moves it into a folder of its own and runs it. */
async function runBundled(
  source: string,
  names: readonly string[],
  options: BuildOptions = {},
): Promise<readonly string[]> {
  const format = options.format ?? "esm";
  const outfile = join(project.folder, format === "esm" ? "bundle.mjs" : "bundle.cjs");
  await build({
    stdin: { contents: source, resolveDir: project.folder },
    bundle: true,
    minify: true,
    platform: "node",
    logLevel: "silent",
    format,
    outfile,
    ...options,
  });
  return await inFolder(async (folder) => {
    const file = join(folder, "program.mjs".replace("mjs", outfile.slice(-3)));
    renameSync(outfile, file);
    const outputs: string[] = [];
    for (const name of names) outputs.push(await run([...runtimes[name]!, file], folder));
    return outputs;
  });
}

const program = (name: string): string => `
import { createPool, isMain } from "${name}";
import { task } from "${name}/task";
const twice = task({ f: (n) => n * 2 });
async function run() {
  const pool = createPool({ threads: 1 })({ twice });
  console.log(await pool.call.twice(21).catch((error) => error.message), isMain);
  await pool.shutdown();
}
if (isMain) void run();
`;

const all = Object.keys(runtimes);

test("a bundle for CommonJS", async () => {
  const outputs = await runBundled(program("heddle"), all, { format: "cjs" });
  expect(outputs).toEqual(all.map(() => "42 true"));
});

test("a bundle that names the folder of the machine that made it", async () => {
  const define = { "import.meta.url": '"file:///gone/node_modules/heddle/dist/mod.js"' };
  const outputs = await runBundled(program("heddle"), all, { define });
  expect(outputs).toEqual(all.map(() => "42 true"));
});

test("two versions in a bundle: workers are served by that of their host", async () => {
  const both = program("other") + program("heddle").replaceAll("twice", "thrice")
    .replace("n * 2", "n * 3").replace(/\brun\b/g, "runToo")
    .replaceAll("createPool", "create").replaceAll("isMain", "isFirst").replaceAll(
      "task(",
      "declare(",
    )
    .replace("{ create, isFirst }", "{ createPool as create, isMain as isFirst }")
    .replace("{ task }", "{ task as declare }");
  const outputs = await runBundled(both, ["Node 22", "Node 26", "Deno", "Bun"]);
  for (const output of outputs) {
    expect(output.split("\n").sort()).toEqual(["42 true", "63 true"]);
  }
});

test("a bundle finds another version installed where it was made", async () => {
  const other = pathToFileURL(join(project.folder, "node_modules/other/dist/mod.js")).href;
  const define = { "import.meta.url": JSON.stringify(other) };
  const [output] = await runBundled(program("heddle"), ["Node 26"], { define });
  expect(output).toContain(
    `heddle ${VERSION} has started a worker of heddle ${OTHER}: bundle again.`,
  );
});

test("without the guard, createPool fails in the worker instead of starting workers in workers", async () => {
  const unguarded = program("heddle").replace("if (isMain) ", "");
  for (const output of await runBundled(unguarded, ["Node 22", "Node 26", "Bun"])) {
    expect(output).toContain(
      "createPool() was called while a worker was loading a bundle that contains heddle",
    );
    expect(output).toMatch(/Guard the call: `if \(isMain\)/);
  }
});

test("without the guard at the top of a bundle, the error of the start names the cure", async () => {
  const unguarded = `
import { createPool } from "heddle";
import { task } from "heddle/task";
const twice = task({ f: (n) => n * 2 });
const pool = createPool({ threads: 1 })({ twice });
console.log(await pool.call.twice(21).catch((error) => error.message));
await pool.shutdown();
`;
  for (const output of await runBundled(unguarded, ["Node 22", "Node 26", "Bun"])) {
    expect(output).toMatch(/^The worker ended while starting: .*createPool\(\) was called/);
    expect(output).toMatch(/Guard the call: `if \(isMain\).*call createPool\(\) in a task\.$/);
  }
});

test("confined workers may read the folder of the bundle, not the one above", async () => {
  const source = `
  import { createPool, isMain } from "heddle";
  import { task } from "heddle/task";
  import { readdirSync } from "node:fs";
  const list = task({ f: (path) => readdirSync(path).length });
  async function run() {
    const permission = { read: false, net: false };
    const pool = createPool({ threads: 1, permission })({ list });
    const { url } = import.meta;
    console.log(await pool.call.list(new URL(".", url).pathname));
    console.log(await pool.call.list(new URL("..", url).pathname).catch((error) => error.code));
    await pool.shutdown();
  }
  if (isMain) void run();
  `;
  expect(await runBundled(source, ["Node 26"])).toEqual(["1\nERR_ACCESS_DENIED"]);
});

const sharing = `
import { createPool, isMain } from "heddle";
import { task } from "heddle/task";
import { Mutex, SharedMap } from "heddle/shared";
const get = task({ f: (map) => map.get("key") });
const make = task({ f: () => new SharedMap().set("key", 5) });
const nested = task({ f: async (map) => {
  const inner = createPool({ threads: 1 })({ get });
  const result = await inner.call.get(map);
  await inner.shutdown();
  return result;
} });
const die = task({ f: (mutex) => { mutex.lockSync(); process.exit(0); } });
async function run() {
  const pool = createPool({ threads: 1 })({ get, make, nested, die });
  const map = new SharedMap().set("key", 4);
  const made = await pool.call.make();
  const mutex = new Mutex();
  await pool.call.die(mutex).catch(() => {});
  const lock = await mutex.lock().catch((error) => error.code);
  console.log(await pool.call.get(map), made.get("key"), await pool.call.nested(map), lock);
  await pool.shutdown();
}
if (isMain) void run();
`;

test.each(["esm", "cjs"] as const)("shared objects in a bundle (%s)", async (format) => {
  const outputs = await runBundled(sharing, all, { format });
  expect(outputs).toEqual(all.map(() => "4 5 4 HEDDLE_POISONED"));
});

/** Builds each source into a bundle of its own in another folder, and runs main.mjs there. */
async function runIn(sources: Readonly<Record<string, string>>, names: readonly string[]) {
  return await inFolder(async (folder) => {
    for (const [name, contents] of Object.entries(sources)) {
      await build({
        stdin: { contents, resolveDir: project.folder },
        bundle: true,
        platform: "node",
        logLevel: "silent",
        format: "esm",
        outfile: join(folder, name),
      });
    }
    const outputs: string[] = [];
    for (const name of names) {
      outputs.push(await run([...runtimes[name]!, join(folder, "main.mjs")], folder));
    }
    return outputs;
  });
}

test("a bundle without heddle/shared, whose tasks have it, is told which line it needs", async () => {
  const main = (line: string): string => `
    import { createPool, isMain } from "heddle";
    ${line}
    if (isMain) {
      const pool = createPool({ threads: 1 })(new URL("./tasks.mjs", import.meta.url));
      console.log(await pool.call.count("a").catch((error) => error.code + " " + error.message));
      await pool.shutdown();
    }
  `;
  const tasks = `
    import { shared } from "heddle/shared";
    export const count = async (name) => await (await shared.counter(name)).add(1);
  `;
  const names = ["Node 22", "Node 26", "Deno", "Bun"];
  for (const output of await runIn({ "main.mjs": main(""), "tasks.mjs": tasks }, names)) {
    expect(output).toMatch(/^HEDDLE_SHARED_ACCESS .*`import "heddle\/shared";` to the program/);
  }
  const line = 'import "heddle/shared";';
  for (const output of await runIn({ "main.mjs": main(line), "tasks.mjs": tasks }, names)) {
    expect(output).toMatch(/^[01]n?$/);
  }
});

test("a bundle that was split, whose workers do not load heddle/shared, is told which line it needs", async () => {
  const main = `
    import { createPool, isMain } from "heddle";
    import { SharedMap } from "heddle/shared";
    if (isMain) {
      const pool = createPool({ threads: 1 })(new URL("./tasks.mjs", import.meta.url));
      const result = pool.call.get(new SharedMap().set("key", 4));
      console.log(await result.catch((error) => error.code + " " + error.message));
      await pool.shutdown();
    }
  `;
  const tasks = (line: string): string => `
    import { workerInfo } from "heddle";
    ${line}
    export const get = (map) => workerInfo() && map.get("key");
  `;
  for (const line of ["", 'import "heddle/shared";']) {
    await inFolder(async (folder) => {
      mkdirSync(join(project.folder, "split"), { recursive: true });
      writeFileSync(join(project.folder, "split/main.mjs"), main);
      writeFileSync(join(project.folder, "split/tasks.mjs"), tasks(line));
      await build({
        entryPoints: [
          join(project.folder, "split/main.mjs"),
          join(project.folder, "split/tasks.mjs"),
        ],
        bundle: true,
        splitting: true,
        platform: "node",
        logLevel: "silent",
        format: "esm",
        outdir: folder,
        outExtension: { ".js": ".mjs" },
      });
      for (const name of ["Node 26", "Deno", "Bun"]) {
        const output = await run([...runtimes[name]!, join(folder, "main.mjs")], folder);
        if (line !== "") expect([name, output]).toEqual([name, "4"]);
        else {expect(output).toMatch(
            /^HEDDLE_DATA_CLONE .*`import "heddle\/shared";` to the module/,
          );}
      }
    });
  }
});
