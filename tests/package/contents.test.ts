/** What the package contains, and what registries show of it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { inFolder, pack, type PackedFile, root } from "../support/package.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  dependencies?: unknown;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, unknown>;
  repository: { url: string };
  exports: Record<string, unknown>;
};

/** Files by name, with the hashes of chunks and the pages of the docs as patterns. */
const PATTERNS: readonly RegExp[] = [
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/,
  /^docs\/[\w/-]+\.md$/,
  /^dist\/(?:(?:heddle-(?:core-)?worker|core|features|shared)\/)?[\w-]+\.(?:c?js|d\.c?ts)$/,
  /^dist\/deferred(?:-worker|-core)?\/[\w-]+\.cjs$/,
  /^dist\/bundle\/(?:features\/)?[\w-]+\.js$/,
  /^dist\/browser\/(?:features\/)?[\w-]+\.(?:js|d\.ts)$/,
];

/** The names of features. */
const features = Object.keys((JSON.parse(read("deno.json")) as typeof manifest).exports)
  .filter((name) => name.startsWith("./features/")).map((name) => name.slice("./features/".length));

describe("the tarball", () => {
  let files: readonly PackedFile[] = [];
  beforeAll(() => inFolder((folder) => Promise.resolve(void ({ files } = pack(folder)))));

  test("contains the build, the docs and nothing else", () => {
    expect(files.length).toBeGreaterThan(20);
    const others = files.filter(({ path }) => !PATTERNS.some((pattern) => pattern.test(path)));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test("contains every file that an entry point names", () => {
    const named = JSON.stringify(manifest.exports).match(/\.\/[\w./*-]+/g)!
      .flatMap((path) => features.map((name) => path.replace("*", name)))
      .filter((path) => path.includes(".", 2)).map((path) => path.slice(2));
    expect(named.length).toBeGreaterThan(8);
    const paths = new Set(files.map(({ path }) => path));
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  test("names no source maps", () => {
    const code = files.filter(({ path }) => /\.c?js$/.test(path));
    expect(code.length).toBeGreaterThan(10);
    for (const { path } of code) {
      expect([path, /\/\/# sourceMappingURL=/.test(read(path))]).toEqual([path, false]);
    }
  });
});

test("the package has no runtime dependency, but optional ones of heddle/nats", () => {
  expect(manifest.dependencies).toBeUndefined();
  const peers = Object.keys(manifest.peerDependencies);
  expect(peers.filter((name) => !name.startsWith("@nats-io/"))).toEqual([]);
  for (const name of peers) expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
});

test("links and images of the README work on the pages of registries", () => {
  const home = manifest.repository.url.replace(/^git\+|\.git$/g, "");
  const raw = home.replace("github.com", "raw.githubusercontent.com");
  const targets = [...read("README.md").matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url!);
  expect(targets.length).toBeGreaterThan(5);
  for (const url of targets) {
    expect(url).toMatch(/^https:\/\//);
    const path = url.startsWith(`${home}/blob/main/`)
      ? url.slice(`${home}/blob/main/`.length)
      : url.startsWith(`${raw}/main/`)
      ? url.slice(`${raw}/main/`.length)
      : undefined;
    const [, workflow] = /\/actions\/workflows\/([\w-]+\.yml)(?:\/badge\.svg)?$/.exec(url) ?? [];
    if (path !== undefined) expect(read(path.replace(/#.*/, "")).length).toBeGreaterThan(0);
    else if (workflow !== undefined) expect(read(`.github/workflows/${workflow}`)).toContain("on:");
    else expect(url.startsWith(home)).toBe(false);
  }
});

describe("the ES modules", () => {
  const entries = Object.values(manifest.exports)
    .filter((conditions) => typeof conditions === "object" && "import" in Object(conditions)) as {
      import: { module: string; default: string };
    }[];

  test.each(entries.map((entry) => entry.import))(
    "$default exports what bundlers get, and CommonJS tells so",
    async (paths) => {
      const names = async (path: string) =>
        Object.keys(await import(join(root, path)) as object).sort();
      const exported = await names(paths.default);
      expect(exported).toEqual(await names(paths.module));
      const [, told = ""] = /\b0&&\(module\.exports=\{([^}]*)\}\);/
        .exec(read(paths.default.replace(/js$/, "cjs")))!;
      expect(told.split(",").map((name) => name.trim()).sort())
        .toEqual(exported.filter((name) => name !== "default"));
    },
  );

  test("a host loads one file, a worker one, and tasks one more", () => {
    const loadedBy = (path: string, loaded: Set<string> = new Set()): Set<string> => {
      if (loaded.has(path)) return loaded;
      loaded.add(path);
      for (const [, other] of read(path).matchAll(/\b(?:from|import)\s?"(\.[^"]+)"/g)) {
        loadedBy(join(path, "..", other!), loaded);
      }
      return loaded;
    };
    const alone = ["mod.js", "heddle-worker.js", "task.js", "shared.js"];
    for (const name of [...alone, "core.js", "heddle-core-worker.js"]) {
      expect([...loadedBy(`dist/${name}`)]).toEqual([`dist/${name}`]);
    }
  });

  test("each feature of heddle/core is one file, for hosts and for workers", async () => {
    expect(features.length).toBeGreaterThan(15);
    for (const name of features) {
      const others = [
        ...read(`dist/features/${name}.js`)
          .matchAll(/\b(?:from|import)\s?"(\.[^"]+)"/g),
      ].map(([, path]) => path!);
      expect([name, others.filter((path) => !/^\.\/\w+\.js$|^\.\.\/core-host\.js$/.test(path))])
        .toEqual([name, []]);
      const [ofRuntimes, ofBundlers] = await Promise.all(
        ["dist", "dist/bundle"].map((folder) =>
          import(join(root, folder, "features", `${name}.js`)) as Promise<object>
        ),
      );
      // The others add to what they need by short names, which types do not show.
      expect(Object.keys(ofRuntimes!)).toEqual(expect.arrayContaining(Object.keys(ofBundlers!)));
      expect(Object.keys(ofBundlers!)).toContain(name);
    }
    const worker = readdirSync(join(root, "dist/heddle-core-worker"));
    for (const file of worker) {
      const path = `dist/heddle-core-worker/${file}`;
      const others = [...read(path).matchAll(/\bfrom\s?"(\.[^"]+)"/g)].map(([, path]) => path!);
      expect([file, others.filter((other) => !/heddle-core-worker\.js$|^\.\/\w+\.js$/.test(other))])
        .toEqual([file, []]);
    }
  });

  test("entry points of hosts share the host's one copy", async () => {
    const load = async (name: string): Promise<Record<string, object>> =>
      await import(join(root, "dist", name)) as Record<string, object>;
    const { HeddleError, NoMachinesError } = { ...await load("mod.js"), ...await load("nats.js") };
    expect(Object.getPrototypeOf(NoMachinesError)).toBe(HeddleError);
  });
});
