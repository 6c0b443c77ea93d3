/** Compiled code of workers on disk (option `compileCache`). */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SHARE_ENV } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
  WorkerLostError,
} from "../../src/mod.ts";
import { createPool as createCorePool } from "../../src/mod-core.ts";
import { caching } from "../../src/features/workers/caching/use.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { capabilities, commandOf } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Tasks = typeof import("../fixtures/caching-tasks.ts");

const module = new URL("../fixtures/caching-tasks.ts", import.meta.url);
const script = fileURLToPath(new URL("../fixtures/scripts/compile-cache.ts", import.meta.url));

/** A folder that does not exist yet. */
const newFolder = (): string => join(temporaryFolder(), "cache");

const cachingPool = (options: PoolOptions): Pool<Tasks> =>
  closedAfterTest(createPool({ maxThreads: 1, ...options })<Tasks>(module));

/** The files in the folder, with the time when each was written. */
function filesOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()
    // While Node writes a file its name has an extension.
    .filter((name) => /^v[^/\\]+[/\\]\w+$/.test(name))
    .map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);
}

interface Told {
  readonly host?: string;
  readonly worker?: string;
  readonly variable?: string;
}

/** What a process says whose environment names no cache. */
async function run(mode: string, folder: string): Promise<Told> {
  const env = { MODE: mode, FOLDER: folder, TMPDIR: dirname(folder) };
  const none = { NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined };
  const child = launch(commandOf(script), { env: { ...env, ...none } });
  await child.closed;
  return JSON.parse(child.output()) as Told;
}

describe.runIf(capabilities.compileCache)("workers of Node with a folder", () => {
  test.each<PoolOptions["workers"]>(["threads", "processes"])(
    "have written what they loaded when they are ready, as %s",
    async (workers = "threads") => {
      const folder = newFolder();
      const pool = cachingPool({ workers, compileCache: folder });
      await pool.ready;
      // Heddle's worker and the tasks.
      expect(filesOf(folder).length).toBeGreaterThanOrEqual(2);
      expect(dirname(await pool.call.cacheFolder() ?? "")).toBe(folder);
    },
  );

  test("take it as a URL, or as a path relative to the working directory", async () => {
    const folder = newFolder();
    const path = relative(process.cwd(), folder);
    const pools = [pathToFileURL(folder), String(pathToFileURL(folder)), path]
      .map((compileCache) => cachingPool({ compileCache }));
    const folders = await Promise.all(pools.map(({ call }) => call.cacheFolder()));
    expect(folders.map((each = "") => dirname(each)))
      .toEqual([folder, folder, folder]);
  });

  test("write what tasks have loaded when they end, whatever ends them", async () => {
    const ends: ((pool: Pool<Tasks>) => Promise<unknown>)[] = [
      (pool) => pool.shutdown(),
      async ({ call }) => expect(await rejection(call.exit(3))).toBeInstanceOf(WorkerLostError),
      async ({ call }) =>
        expect(await rejection(call.loop.with({ runTimeoutMs: 20, killAfterMs: 20 })()))
          .toBeInstanceOf(Error),
    ];
    for (const end of ends) {
      const folder = newFolder();
      const pool = cachingPool({ compileCache: folder });
      await pool.ready;
      const before = filesOf(folder);
      expect(await pool.call.loadMore()).toBe(42);
      await end(pool);
      await until(() => filesOf(folder).length > before.length);
      expect(filesOf(folder)).toEqual(expect.arrayContaining([...before])); // nothing is written twice
    }
  });

  test("find what those of an earlier process wrote, which was killed", async () => {
    const folder = newFolder();
    const { host, worker } = await run("folder", folder);
    expect([host, dirname(worker ?? "")]).toEqual([undefined, folder]);
    const files = filesOf(folder);
    expect(files.length).toBeGreaterThanOrEqual(2);
    await run("folder", folder);
    expect(filesOf(folder)).toEqual(files); // what is not accepted is written again
  });

  test("have the variables of the host at their start, or those of worker.env", async () => {
    const compileCache = newFolder();
    const late = cachingPool({ compileCache, minThreads: 0 });
    process.env["HEDDLE_TEST_LATE"] = "yes";
    expect(await late.call.variable("HEDDLE_TEST_LATE")).toBe("yes");
    const env = { ONLY: "this", NODE_COMPILE_CACHE: "/elsewhere" };
    const given = cachingPool({ compileCache, worker: { env } });
    const names = ["ONLY", "HEDDLE_TEST_LATE", "NODE_COMPILE_CACHE"];
    expect(await Promise.all(names.map((name) => given.call.variable(name))))
      .toEqual(["this", undefined, compileCache]);
    delete process.env["HEDDLE_TEST_LATE"];
  });

  test("have it in pools of heddle/core", async () => {
    const folder = newFolder();
    const options = { threads: 1, use: [caching()], compileCache: folder };
    const pool = createCorePool(options)<Tasks>(module);
    expect(dirname(await pool.call.cacheFolder() ?? "")).toBe(folder);
    expect(filesOf(folder).length).toBeGreaterThanOrEqual(2);
    await pool.shutdown();
  });
});

describe.runIf(capabilities.compileCache)("without a folder", () => {
  test("true is the one that the process has enabled, and no folder in it", async () => {
    const folder = newFolder();
    const { host, worker } = await run("enabled", folder);
    expect([worker, dirname(host ?? "")]).toEqual([host, folder]);
  });

  test("true is that of Node, among temporary files", async () => {
    const folder = newFolder();
    const { worker, ...rest } = await run("default", folder);
    expect(dirname(worker ?? "")).toBe(join(dirname(folder), "node-compile-cache"));
    expect(rest).toEqual({});
  });

  test("false leaves workers without one", async () => {
    expect(await run("off", newFolder())).toEqual({});
  });
});

describe.skipIf(capabilities.compileCache)("runtimes with caches of their own", () => {
  test.each([true, "folder"])("take %o, which changes nothing", async (given) => {
    const compileCache = given === true ? true : newFolder();
    const pool = cachingPool({ compileCache });
    expect(await pool.call.variable("NODE_COMPILE_CACHE")).toBe(process.env["NODE_COMPILE_CACHE"]);
    // Bun has a cache of this kind if the variable is set for the process.
    if (process.env["NODE_COMPILE_CACHE"] === undefined) {
      expect(await pool.call.cacheFolder()).toBe(undefined);
    }
    expect(filesOf(String(compileCache))).toEqual([]);
  });
});

describe("the option compileCache", () => {
  const rule = "compileCache must be a boolean, or the path or file URL of a folder, got";
  test.each<[value: unknown, message: string]>([
    ["", `${rule} "".`],
    ["a\0b", `${rule} "a\\u0000b".`],
    ["https://example.com/cache", `${rule} "https://example.com/cache".`],
    [new URL("https://example.com/cache"), `${rule} "https://example.com/cache".`],
    [0, `${rule} 0.`],
    [null, `${rule} null.`],
    [{ folder: "x" }, `${rule} [object Object].`],
  ])("refuses %o", (compileCache, message) => {
    const create = (): unknown => createPool({ compileCache } as PoolOptions);
    expect(create).toThrow(InvalidArgumentError);
    expect(create).toThrow(message);
  });

  test.runIf(capabilities.compileCache)("refuses a file URL that names no path", () => {
    expect(() => createPool({ compileCache: "file:///a%2Fb" })).toThrow(`${rule} "file:///a%2Fb".`);
  });

  test("refuses what it cannot be combined with, on every runtime", () => {
    const refused: PoolOptions[] = [{ worker: { env: SHARE_ENV } }];
    if (capabilities.permissions) refused.push({ permission: { read: true, net: true } });
    for (const options of refused) {
      const create = (): unknown => createPool({ compileCache: true, ...options });
      expect(create).toThrow(InvalidArgumentError);
      expect(create).toThrow("compileCache cannot be combined with ");
    }
    closedAfterTest(createPool({ threads: 1, compileCache: false, ...refused[0] })<Tasks>(module));
  });
});
