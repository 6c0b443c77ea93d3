/**
 * The size of bundles, by esbuild, minified and gzipped: what a program loads at its start, without the parts that it loads
 * when they are needed (the worker, structs of modules that only workers load).
 */
import { build, type Metafile } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { root, run, runtimes, useProject } from "../support/package.ts";

const KIB = 1024;
const worker = "./node_modules/heddle/dist/bundle/heddle-worker.js";

interface Budget {
  readonly source: string;
  /** The most KiB that it may take. */
  readonly most: number;
  /** Where the docs tell its size, and how. */
  readonly told?: readonly [file: string, sentence: (kib: number) => string];
}

/** Those for browsers have the condition `browser`. */
const programs: Readonly<Record<string, Budget>> = {
  "createPool alone": {
    source: `import { createPool } from "heddle"; console.log(createPool);`,
    most: 115.4,
    told: ["packaging.md", (kib) => `a program with \`createPool\` loads ${kib} KiB at its start`],
  },
  // A module of tasks that must not run in workers.
  "isMain alone": {
    source: `import { isMain } from "heddle"; console.log(isMain);`,
    most: 10.1,
  },
  // Without what the worker loads, as a page loads it.
  "createPool in a browser": {
    source: `import { createPool } from "heddle/browser"; console.log(createPool);`,
    most: 115.8,
    told: ["browser.md", (kib) => `\`createPool\` takes ${kib} KiB (gzip) of a page`],
  },
  "a worker in a browser": {
    source: `import { serve } from "heddle/browser/worker"; serve({});`,
    most: 50.5,
  },
  "a worker": {
    source: `import "${worker}";`,
    most: 53.7,
    told: ["packaging.md", (kib) => `a worker ${kib} KiB`],
  },
  // The kernel: what a pool without features needs.
  "createPool of heddle/core": {
    source: `import { createPool } from "heddle/core"; console.log(createPool);`,
    most: 67.2,
    told: ["core.md", (kib) => `\`createPool\` takes ${kib} KiB`],
  },
  "a worker of heddle/core": {
    source: `import "./node_modules/heddle/dist/bundle/heddle-core-worker.js";`,
    most: 37.8,
    told: ["core.md", (kib) => `its worker ${kib} KiB`],
  },
  "heddle/core with limits, streams and map": {
    source: `import { createPool } from "heddle/core";
      import { map } from "heddle/features/map"; console.log(createPool, map);`,
    most: 80.5,
  },
  "task alone": {
    source: `import { task } from "heddle/task"; console.log(task);`,
    most: 8,
    told: ["packaging.md", (kib) => `\`task\` alone takes ${kib} KiB`],
  },
};

const project = useProject();

/** A minified bundle in several files, in memory. */
const split = {
  bundle: true,
  minify: true,
  splitting: true,
  platform: "node",
  format: "esm",
  write: false,
  metafile: true,
} as const;

/** Bundles `source`: the files that it loads at its start. */
async function bundle(source: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: project.folder },
    ...split,
    absWorkingDir: project.folder,
    outdir: join(project.folder, "out"),
  });
  const texts = new Map(
    outputFiles.map(({ path, text }) => [relative(project.folder, path), text]),
  );
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((path) => outputs[path]!.entryPoint === "<stdin>")!;
  return [...loadedBy(entry, outputs)].map((path) => texts.get(path)!).join("\n");
}

function loadedBy(
  path: string,
  outputs: Metafile["outputs"],
  loaded: Set<string> = new Set(),
): Set<string> {
  if (loaded.has(path) || outputs[path] === undefined) return loaded;
  loaded.add(path);
  for (const { path: other, kind } of outputs[path].imports) {
    if (kind !== "dynamic-import") loadedBy(other, outputs, loaded);
  }
  return loaded;
}

describe.each(Object.keys(programs))("%s", (name) => {
  const { source, most, told } = programs[name]!;

  test(`takes at most ${most} KiB, and what the docs say`, async () => {
    const kib = gzipSync(await bundle(source), { level: 9 }).length / KIB;
    console.log(`${name}: ${kib.toFixed(1)} KiB`);
    expect(kib).toBeGreaterThan(most / 2);
    expect(kib).toBeLessThanOrEqual(most);
    if (told === undefined) return;
    const [file, sentence] = told;
    const text = readFileSync(join(root, "docs", file), "utf8").replaceAll(/\s+/g, " ");
    expect(text).toContain(sentence(Math.round(kib)));
  });
});

/** What a feature adds to the files that a host loads, and to those of a worker. */
async function weightOf(name: string): Promise<readonly [host: number, worker: number]> {
  const source = (imports: string): string =>
    `import { createPool } from "heddle/core"; ${imports} console.log(createPool);`;
  const sizeOf = async (text: string): Promise<number> =>
    gzipSync(await bundle(text), { level: 9 }).length / KIB;
  const plain = await sizeOf(source(""));
  const withIt = await sizeOf(
    source(`import { ${name} } from "heddle/features/${name}"; console.log(${name});`),
  );
  const file = join(root, "dist/heddle-core-worker", `${name}.js`);
  const worker = existsSync(file) ? gzipSync(readFileSync(file), { level: 9 }).length / KIB : 0;
  return [withIt - plain, worker];
}

test("features add to heddle/core what docs/core.md says, or less", async () => {
  const rows = [
    ...readFileSync(join(root, "docs/core.md"), "utf8")
      .matchAll(/^\| `(\w+)\(\)` +\|.*\| +([\d.]+) +\| +([\d.]+|–) +\|$/gm),
  ];
  expect(rows.length).toBeGreaterThan(15);
  for (const [, name = "", ofHost, ofWorker] of rows) {
    const weights = await weightOf(name);
    for (const [index, told] of [ofHost, ofWorker].entries()) {
      const most = told === "–" ? 0 : Number(told);
      const kib = weights[index]!;
      expect([name, index, kib, kib <= most && kib >= most - 1]).toEqual([name, index, kib, true]);
    }
  }
});

test("only programs that declare structs contain the code for them", async () => {
  const { source } = programs["createPool alone"]!;
  const text = "Struct data at offset";
  expect(await bundle(source)).not.toContain(text);
  expect(await bundle(`${source} import { task } from "heddle/task"; task({ f: task });`))
    .not.toContain(text);
  expect(await bundle(`${source} import { f64, struct } from "heddle/task"; struct({ x: f64 });`))
    .toContain(text);
});

/** The parts of ARCHITECTURE.md, each with the files that no part before it has. */
const parts: Readonly<Record<string, RegExp>> = {
  "`calls/streams`": /^features\/calls\/streams\//,
  "`calls/limits`": /^features\/calls\/limits\//,
  "`calls/queue`, `calls/keys`": /^features\/calls\/(?:queue|keys)\//,
  "`calls/requests`": /^features\/calls\/requests\/|request-errors/,
  "`calls/map`": /^features\/calls\/map\//,
  "`calls/scopes`": /^features\/calls\/scopes\/|scope-errors/,
  "`calls/sync`": /^features\/calls\/sync\//,
  "`calls/objects`": /^features\/calls\/objects\//,
  "`values/rare`": /^features\/values\/rare\//,
  "`values/structs`": /^features\/values\/structs\//,
  "`workers/scaling`": /^features\/workers\/scaling\//,
  "`workers/stealing`, `balancers`, `inline`":
    /^features\/workers\/(?:stealing|balancers|inline)\//,
  "`workers/rights`, `workers/caching`, `calls/reasons`":
    /^features\/(?:workers\/(?:rights|caching)|calls\/reasons)\//,
  "`workers/mirror`": /^features\/workers\/mirror\//,
  "`workers/processes`": /^features\/workers\/processes\//,
  "`watching/observe`, `profile`": /^features\/watching\//,
  "options": /^(?:api\/options\/|option-checks|features\/\w+\.ts)/,
  "pool and threads": /^(?:api\/pool|host\/workers|host\/lanes)\//,
  "calls": /^(?:api\/(?:calls|tasks)|host\/(?:calls|dispatch|schedule))\//,
  "the worker's loop": /^worker\//,
  "values": /^codec\//,
  "rings and waiting": /^(?:ring|sync|lane|metering|memory|protocol)\//,
  "runtimes": /^(?:runtimes|realm)\//,
  "errors and others": /(?:)/,
};

/** KiB of each part among what `entry` loads at once, minified. */
async function partsOf(entry: string): Promise<Record<string, number>> {
  const { metafile } = await build({
    entryPoints: [join(root, "src", entry)],
    ...split,
    plugins: [{
      name: "deferred",
      setup: ({ onResolve }) =>
        onResolve({ filter: /\/deferred\.ts$/ }, ({ path }) => ({ path, external: true })),
    }],
    absWorkingDir: root,
    outdir: join(root, "dist"),
  });
  const { outputs } = metafile;
  const start = Object.keys(outputs).find((path) => outputs[path]!.entryPoint === `src/${entry}`)!;
  const sums: Record<string, number> = {};
  for (const path of loadedBy(start, outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(outputs[path]!.inputs)) {
      const name = file.replace(/^src\//, "");
      const part = Object.keys(parts).find((key) => parts[key]!.test(name))!;
      sums[part] = (sums[part] ?? 0) + bytesInOutput / KIB;
    }
  }
  return sums;
}

test("the parts of host and worker weigh what ARCHITECTURE.md says, or less", async () => {
  const rows = [
    ...readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
      .matchAll(/^\| (\S.*?) +\| +(\d+|–) +\| +(\d+|–) +\|/gm),
  ];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(parts));
  const [host, worker] = [await partsOf("mod.ts"), await partsOf("mod-worker.ts")];
  for (const [, name, ofHost, ofWorker] of rows) {
    for (const [limit, kib = 0] of [[ofHost, host[name!]], [ofWorker, worker[name!]]] as const) {
      const most = limit === "–" ? 0 : Number(limit);
      expect([name, kib, kib <= most && kib >= most - 2]).toEqual([name, kib, true]);
    }
  }
});

const structs = `
import { f64, struct, task } from "heddle/task";
const Point = struct({ x: f64, y: f64 });
export const mirror = task({ args: [Point], returns: Point, f: ({ x, y }) => ({ x: y, y: x }) });
`;
/** `mirror` in this bundle or another one; the host learns of the others' structs from a worker. */
const calls = `
import { createPool, isMain } from "heddle";
import { mirror } from "./mirror.mjs";
async function run() {
  const pool = OTHER ? createPool({ threads: 2 })("./mirror.mjs") : createPool()({ mirror });
  const wrong = await pool.call.mirror({ x: 1 }).catch((error) => error.code);
  console.log((await pool.call.mirror({ x: 1, y: 2 })).x, wrong);
  await pool.shutdown();
}
if (isMain) void run();
`;

test.each([["split", true], ["whole", false]] as const)(
  "structs work, %s",
  async (_, splitting) => {
    const folder = join(project.folder, "structs");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "mirror.mjs"), structs);
    for (const other of ["true", "false"]) {
      const main = calls.replace("OTHER", other);
      const source = other === "true" ? main.replace(/import \{ mirror.*/, "") : main;
      writeFileSync(join(folder, "main.mjs"), source);
      const outdir = join(folder, `out-${splitting}-${other}`);
      await build({
        entryPoints: [join(folder, "main.mjs"), join(folder, "mirror.mjs")],
        bundle: true,
        minify: true,
        splitting,
        platform: "node",
        format: "esm",
        outExtension: { ".js": ".mjs" },
        outdir,
      });
      for (const name of Object.keys(runtimes)) {
        const output = await run([...runtimes[name]!, "main.mjs"], outdir);
        expect([name, other, output]).toEqual([name, other, "2 HEDDLE_STRUCT_MISMATCH"]);
      }
    }
  },
);
