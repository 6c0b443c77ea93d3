/** The package as it is published: packed, unpacked into an empty project, and run. */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** Executables by the names of the runtimes. */
export const runtimes: Readonly<Record<string, readonly string[]>> = {
  "Node 22": [join(root, "node_modules/node22/bin/node")],
  "Node 24": [join(root, "node_modules/node24/bin/node")],
  "Node 26": [join(root, "node_modules/node/bin/node")],
  "Bun": [join(root, "node_modules/.bin/bun")],
  "Deno": [join(root, "node_modules/.bin/deno"), "run", "-A", "--quiet"],
};

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** Packs the package (`npm pack`) into `folder`. Returns the tarball and the files in it. */
export function pack(folder: string): { tarball: string; files: readonly PackedFile[] } {
  const json = execFileSync(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  // An array, or since npm 11 an object by name.
  const [packed] = Object.values(JSON.parse(json)) as [{ filename: string; files: PackedFile[] }];
  return { tarball: join(folder, packed.filename), files: packed.files };
}

/** Unpacks `tarball` as the package `heddle` of `project`. */
export function unpack(tarball: string, project: string, at = "node_modules/heddle"): void {
  const target = join(project, at);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  // Deno resolves bare names by it.
  writeFileSync(join(project, "package.json"), '{ "dependencies": { "heddle": "*" } }\n');
}

/** Makes a dev dependency of heddle available to `project`. */
export function link(name: string, project: string): void {
  const path = join(project, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}

/** An empty folder that is removed after `use`. */
export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "heddle-package-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Project {
  readonly folder: string;
  readonly tarball: string;
}

/** A project with the package, which all tests of a file share. `prepare` adds to it. */
export function useProject(prepare: (project: Project) => void = () => {}): Project {
  const project = { folder: "", tarball: "" };
  beforeAll(() => {
    project.folder = mkdtempSync(join(tmpdir(), "heddle-package-"));
    project.tarball = pack(project.folder).tarball;
    unpack(project.tarball, project.folder);
    prepare(project);
  });
  afterAll(() => rmSync(project.folder, { recursive: true, force: true }));
  return project;
}

export function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}

/** Runs a command in `cwd`: its output, and its exit code if that is not 0. */
export function run(command: readonly string[], cwd: string): Promise<string> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "", NODE_PATH: "", NO_COLOR: "1" },
    timeout: 60_000,
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += String(chunk));
  child.stderr.on("data", (chunk) => output += String(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0 ? output.trim() : `${output}exit code ${code}`));
  });
}
