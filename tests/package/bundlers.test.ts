/** `examples/bundlers`, with each bundler that is a dev dependency: the output runs somewhere else, alone. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  copy,
  inFolder,
  link,
  root,
  run,
  runtimes,
  unpack,
  useProject,
} from "../support/package.ts";

const tools: Readonly<Record<string, string>> = {
  "esbuild": "Node 26",
  "rollup": "Node 26",
  "vite-ssr": "Node 26",
  "webpack": "Node 26",
  "bun": "Bun",
};
/** Tools that `heddle/bundler` has a plugin for. */
const withPlugin = ["esbuild", "rollup", "vite-ssr"];
const expected = "36 HEDDLE!";

const project = useProject(({ folder }) => {
  for (const name of ["esbuild", "rollup", "vite", "webpack"]) link(name, folder);
  copy(join(root, "examples/bundlers"), join(folder, "bundlers"));
});

/** Builds the program with `tool`, and moves the output to `target`. */
async function build(tool: string, target: string, ...flags: readonly string[]): Promise<void> {
  const out = join(project.folder, `out-${tool}`);
  const output = await run(
    [...runtimes[tools[tool]!]!, "build.mjs", out, ...flags],
    join(project.folder, "bundlers", tool),
  );
  expect(output).not.toMatch(/error|exit code/i);
  renameSync(out, target);
}

describe.each([
  ...Object.keys(tools).map((tool) => [tool]),
  ...withPlugin.map((tool) => [tool, "--plugin"]),
])("%s %s", (tool = "", ...flags) => {
  const readers = tool === "bun" ? ["Bun"] : Object.keys(runtimes);

  test("heddle in the bundle", async () => {
    await inFolder(async (folder) => {
      const target = join(folder, "elsewhere");
      await build(tool, target, ...flags);
      for (const name of readers) {
        expect([name, await run([...runtimes[name]!, "main.mjs"], target)])
          .toEqual([name, expected]);
      }
    });
  });

  test("heddle outside the bundle", async () => {
    await inFolder(async (folder) => {
      const target = join(folder, "elsewhere");
      await build(tool, target, "--external", ...flags);
      unpack(project.tarball, target);
      for (const name of readers) {
        expect([name, await run([...runtimes[name]!, "main.mjs"], target)])
          .toEqual([name, expected]);
      }
    });
  });
});

describe("bun build --sourcemap, whose sources are not shipped", () => {
  const main = `import { createPool, isMain, task } from "heddle";
    interface Unused { readonly none: true }
    const twice = task({ f: (n: number) => 2 * n });
    if (isMain) {
      const own = createPool({ threads: 1 })({ twice });
      const other = createPool({ threads: 1 })("./tasks.js");
      console.log(await own.call.twice(3), await other.call["add"]!(1));
      await Promise.all([own.shutdown(), other.shutdown()]);
    }`;

  test.each(["inline", "linked", "external"].flatMap((maps) => [
    [`--sourcemap=${maps}`],
    [`--sourcemap=${maps}`, "--external", "heddle"],
    [`--sourcemap=${maps}`, "--external", "heddle", "--splitting"],
  ]))("%s %s %s", (...flags) =>
    inFolder(async (folder) => {
      unpack(project.tarball, folder);
      mkdirSync(join(folder, "src"));
      writeFileSync(join(folder, "src/main.ts"), main);
      writeFileSync(join(folder, "src/tasks.ts"), "export const add = (n: number) => n + 1;\n");
      const bun = runtimes["Bun"]!;
      const files = ["src/main.ts", "src/tasks.ts"];
      await run([...bun, "build", "--target=bun", "--outdir=dist", ...flags, ...files], folder);
      rmSync(join(folder, "src"), { recursive: true });
      expect(await run([...bun, "dist/main.js"], folder)).toBe("6 2");
    }));
});

test("bun build --compile", async () => {
  await inFolder(async (folder) => {
    await build("bun", join(folder, "elsewhere"), "--compile");
    expect(await run([join(folder, "elsewhere/program")], folder)).toBe(expected);
  });
});
