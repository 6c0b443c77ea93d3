/** No link of a Markdown file is dead, neither on the page of the repository nor in the package. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { existsInProject } from "./blocks.ts";
import { anchorsIn, deadLinks, linksIn, type Place } from "./links.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });

const texts = new Map<string, string>();
function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(root + file, "utf8");
  texts.set(file, text);
  return text;
}

/** With files that are not yet committed. */
const inRepository = run("git", "ls-files", "--cached", "--others", "--exclude-standard")
  .trim().split("\n").filter(existsInProject);
const [packed] = JSON.parse(run("npm", "pack", "--dry-run", "--json", "--ignore-scripts")) as [
  { files: readonly { path: string }[] },
];

const repository: Place = { files: new Set(inRepository), read };
const PLACES: Readonly<Record<string, Place>> = {
  repository,
  package: { files: new Set(packed.files.map(({ path }) => path)), read },
};

describe.each(Object.keys(PLACES))("in the %s", (name) => {
  const place = PLACES[name]!;
  const pages = [...place.files].filter((file) => file.endsWith(".md"));

  test("pages are found", () => expect(pages.length).toBeGreaterThan(25));

  test("no link is dead", () => {
    const dead = pages.flatMap((file) =>
      deadLinks(file, place, repository).map((problem) => `${file}: ${problem}`)
    );
    expect(dead).toEqual([]);
  });
});

describe("the check", () => {
  const HOME = "https://github.com/heddle-js/heddle";
  const deadIn = (text: string, file = "docs/a.md"): string[] => {
    const place: Place = {
      files: new Set([file, "docs/b.md", "src/mod.ts"]),
      read: (path) => path === file ? text : "# B\n\n## In `code`, twice\n\n## In code, twice\n",
    };
    return deadLinks(file, place, place).map((problem) => problem.split(": ")[0]!);
  };

  test("finds dead files, folders, images and anchors", () => {
    expect(deadIn("[a](c.md) [b](b.md) ![c](c.png) [d](../src) [e](../lib/)"))
      .toEqual(["c.md", "c.png", "../lib/"]);
    expect(deadIn("[a](b.md#in-code-twice) [b](b.md#in-code-twice-1) [c](b.md#in-code-twice-2)"))
      .toEqual(["b.md#in-code-twice-2"]);
    expect(deadIn("# A\n\n[a](#a) [b](#b)\n")).toEqual(["#b"]);
  });

  test("finds dead addresses of the repository, and no others", () => {
    expect(deadIn(`[a](${HOME}/blob/main/src/mod.ts) [b](${HOME}/tree/main/src)`)).toEqual([]);
    expect(deadIn(`[a](${HOME}/blob/main/docs/c.md) [b](https://example.org/c)`).length).toBe(1);
    expect(deadIn(`[a](${HOME}/blob/main/docs/b.md#c)`).length).toBe(1);
  });

  test("leaves code out", () => {
    expect(linksIn("`[a](b)`\n\n```ts\ncall[0](x)\n```\n\n[c](d)\n")).toEqual(["d"]);
    expect([...anchorsIn("# A\n\n```sh\n# no heading\n```\n\n## [B](b.md)\n")]).toEqual(["a", "b"]);
  });
});
