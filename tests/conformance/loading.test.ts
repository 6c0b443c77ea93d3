/** Modules that fail to load, and modules whose import does not settle. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, importTask, type PoolOptions, WorkerStartError } from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "heddle-loading-"));
  write("fine.mjs", "export const add = (n) => n + 1;\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Writes a module; returns its URL. */
function write(name: string, source: string): URL {
  const file = join(root, name);
  writeFileSync(file, source);
  return pathToFileURL(file);
}

async function startError(module: URL, options: PoolOptions = {}): Promise<WorkerStartError> {
  const pool = closedAfterTest(createPool({ threads: 1, ...options })(module));
  const error: unknown = await pool.ready.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WorkerStartError);
  await expect(pool.call["add"]!(1)).rejects.toBe(error);
  return error as WorkerStartError;
}

const mistake = "export const fine = 1;\nexport const broken = = 2;\n";

describe("the error of a module that fails to load", () => {
  test.each([
    ["mistake.mjs", mistake],
    ["mistake.ts", `const typed: number = 1;\n${mistake.split("\n")[1]}`],
    ["mistake.cjs", "const fine = 1;\nconst broken = = 2;\n"],
  ])("names file and line of a syntax error: %s", async (name, source) => {
    const module = write(name, source);
    const { message, cause } = await startError(module);
    expect(message).toContain(`The module ${module} failed to load: `);
    expect(message).toMatch(new RegExp(`/${name.replace(".", "\\.")}:2\\b`));
    expect((cause as Error).stack).toMatch(new RegExp(`/${name.replace(".", "\\.")}:2\\b`));
  });

  test("names the column", async () => {
    expect((await startError(write("column.mjs", mistake))).message)
      .toContain("/column.mjs:2:23");
  });

  test("names the module with the mistake and the one that imports it", async () => {
    write("nested.mjs", mistake);
    const module = write("importer.mjs", 'import "./nested.mjs";\nexport const add = 1;\n');
    const { message } = await startError(module);
    expect(message).toContain(`The module ${module} failed to load: `);
    if (capabilities.findsNestedMistakes) expect(message).toContain("/nested.mjs:2");
  });

  test("names the module that imports a missing export", async () => {
    const module = write("wants.mjs", 'import { nothing } from "./fine.mjs";\nnothing();\n');
    const { message } = await startError(module);
    expect(message).toContain(`The module ${module} failed to load: `);
    expect(message).toMatch(/export.*nothing/i);
  });

  test("names the module that throws, and runs it once", async () => {
    const counts = new Int32Array(new SharedArrayBuffer(4));
    const module = write(
      "throws.mjs",
      `import { workerInfo } from ${
        JSON.stringify(new URL("../../src/mod-task.ts", import.meta.url))
      };
      Atomics.add(workerInfo().data, 0, 1);
      throw new SyntaxError("thrown by the module");`,
    );
    const { message, cause } = await startError(module, { worker: { data: counts } });
    expect(message).toBe(`The module ${module} failed to load: thrown by the module`);
    expect(cause).toEqual(new SyntaxError("thrown by the module"));
    expect(counts[0]).toBe(1);
  });

  test("names a setup module and the place of its mistake", async () => {
    const setup = write("setup.mjs", mistake);
    const { message } = await startError(new URL("./fine.mjs", setup), { worker: { setup } });
    expect(message).toContain(`The setup module ${setup} failed: `);
    expect(message).toContain("/setup.mjs:2:23");
  });
});

describe("a module that exports `then`", () => {
  test.each([
    ["does not call back", "export function then() {}"],
    ["calls back", "export function then(resolve) { resolve(5); }"],
    ["is slow", "await new Promise((done) => setTimeout(done, 100)); export function then() {}"],
  ])("that %s has its other exports as tasks", async (name, source) => {
    const file = `then-${name.replaceAll(" ", "-")}.mjs`;
    const module = write(file, `${source}\nexport const add = (n) => n + 1;\n`);
    const pool = closedAfterTest(createPool({ threads: 1 })(module));
    expect(await pool.call["add"]!(1)).toBe(2);
    expect(Object.keys(pool.call)).toEqual(["add"]);
    const importing = createPool({ threads: 1 })({
      add: importTask<(n: number) => number>({ href: module, name: "add" }),
    });
    expect(await closedAfterTest(importing).call.add(2)).toBe(3);
  });

  test("may be the setup", async () => {
    const setup = write("then-setup.mjs", "export function then() {}\nexport default () => {};\n");
    const fine = new URL("./fine.mjs", setup);
    const pool = closedAfterTest(createPool({ threads: 1, worker: { setup } })(fine));
    expect(await pool.call["add"]!(1)).toBe(2);
  });
});
