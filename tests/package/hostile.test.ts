/** The built files where the globals are not what they were built for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copy, root, run, runtimes, useProject } from "../support/package.ts";

const project = useProject(({ folder }) => {
  copy(join(root, "tests/fixtures/scripts/added-members.ts"), join(folder, "added.mts"));
  writeFileSync(
    join(folder, "old.mjs"),
    `const [, , entry, lacks] = process.argv;
if (lacks === "detached") delete ArrayBuffer.prototype.detached;
else delete process[lacks];
await import(entry).then(() => console.log("loaded"), ({ message }) => console.log(message));
`,
  );
});

describe.each(Object.entries(runtimes))("on %s", (_name, command) => {
  test.each(["get", "value"])("members of Object.prototype change nothing: %s", async (kind) => {
    const nested = { a: [{ b: "x" }] };
    const calls = [3, nested, "t"];
    const output = await run([...command, "added.mts", kind], project.folder);
    expect(JSON.parse(output)).toEqual([[nested, "a", 1.5], ...calls, ...calls]);
  });
});

describe.each(["heddle", "heddle/core", "heddle/shared"])("%s", (entry) => {
  test.each(["getBuiltinModule", "detached"])(
    "says what it needs where there is no %s",
    async (lacks) => {
      const output = await run([...runtimes["Node 26"]!, "old.mjs", entry, lacks], project.folder);
      expect(output.trim()).toBe("heddle needs Node 22.18, Deno 2.9 or Bun 1.4.");
    },
  );
});
