/**
 * `npm run test:clients -- [--pairs N] [--only NAME] [--check] [--fresh] [--write]`: runs the programs of tests/clients in turn with the pool that they
 * depend on and with our package in its place, which an override of npm puts there. What they print and write must be equal.
 * `--check` compares and measures nothing; `--write` puts the table into docs/programs.md; `--fresh` installs into a folder of its own and
 * removes that. Needs Linux, the build, and a registry at first.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { median } from "simple-statistics";
import { bootstrapInterval } from "../benchmarks/harness/bootstrap.ts";
import { describeMachine } from "../benchmarks/harness/machine.ts";
import { table } from "../benchmarks/harness/markdown-table.ts";
import type { Client } from "../tests/clients/client.ts";
import { CLIENTS } from "../tests/clients/mod.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const SAMPLE_MS = 50;
const TIMEOUT_MS = 300_000;
/** Time for processes to end after the program: a busy machine holds them up. */
const LAST_EXIT_MS = 5000;
const PAGE = "docs/programs.md";
const MARKS = [
  "<!-- programs, from npm run test:clients -->\n",
  "<!-- end of programs -->",
] as const;

interface Run {
  /** Exit code, output without times and paths in the order of the alphabet, and a hash of each file. */
  readonly result: string;
  readonly wallS: number;
  /** User and system time of all processes. */
  readonly processorS: number;
  /** Most resident pages of all processes at once; those that processes share count in each. */
  readonly peakPages: number;
  /** Processes that still run after the program. */
  readonly leftOver: number;
}

const hash = (text: string | Uint8Array): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

function npm(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`npm ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const tarballs = new Map<string, string>();

/** The tarball of a folder, named after its contents, as npm caches by the name. */
function packed(path: string): string {
  const known = tarballs.get(path);
  if (known !== undefined) return known;
  const [{ filename }] = JSON.parse(
    npm(join(root, path), "pack", "--json", "--ignore-scripts", "--pack-destination", cache),
  ) as [{ filename: string }];
  const named = join(cache, `${hash(readFileSync(join(cache, filename)))}.tgz`);
  renameSync(join(cache, filename), named);
  tarballs.set(path, named);
  return named;
}

/** The folder of an installation with these packages and overrides: one for all clients that have the same. */
function install(
  packages: Client["packages"],
  overrides: Readonly<Record<string, string>>,
): string {
  const manifest = JSON.stringify({ private: true, dependencies: packages, overrides }, null, 2);
  const folder = join(cache, hash(manifest));
  if (existsSync(join(folder, "package-lock.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest);
  npm(folder, "install", "--no-audit", "--no-fund", "--loglevel=error");
  return folder;
}

/** Fails if npm has put anything but our package in the place of the dependency. */
function checkOverride(folder: string, name: Client["swaps"]): void {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as { packages: Record<string, { name?: string }> };
  const places = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
  const isOurs = places.length > 0 &&
    places.every((path) => packages[path]!.name === `@heddle/${name}`);
  if (!isOurs) throw new Error(`${folder}: the override of ${name} has no effect`);
}

function writeProject(folder: string, files: Client["files"]): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The members of a session, and how much memory they have. */
function session(leader: number): { readonly count: number; readonly pages: number } {
  let [count, pages] = [0, 0];
  for (const id of readdirSync("/proc")) {
    if (!/^\d+$/.test(id)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${id}/stat`, "utf8");
    } catch {
      continue; // It has ended meanwhile.
    }
    // After the name: the state is field 3, the session field 6, the resident pages field 24.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[3]) !== leader || fields[0] === "Z") continue;
    count++;
    pages += Number(fields[21]);
  }
  return { count, pages };
}

/** Output of programs without colours, times and the place of the project. */
const normalise = (text: string, folder: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(folder, "")
    .replaceAll(dirname(dirname(folder)), "")
    // Failures are numbered in the order in which files end.
    .replaceAll(/^\s*\d+\) /gm, "")
    .replaceAll(/\b\d+:\d\d:\d\d\b/g, "TIME")
    .replaceAll(/\(?\b\d+(?:\.\d+)? ?m?s\b\)?/g, "")
    .split("\n")
    .map((line) => line.trim())
    .sort()
    .join("\n");

const MISSING = "not written: ";

function hashFiles(folder: string): string[] {
  if (!existsSync(folder)) return [MISSING + folder.split("/").at(-1)];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => `${file.slice(folder.length)} ${hash(readFileSync(file))}`);
}

/** Runs a program in a session of its own. Bash's `time` counts all descendants that were waited for. */
async function run(client: Client, folder: string): Promise<Run> {
  const written = (client.written ?? []).map((name) => join(folder, name));
  for (const path of written) rmSync(path, { recursive: true, force: true });
  const modules = join(folder, "../../node_modules");
  const command = client.command.map((part) => part.replace(/^MODULES/, modules));
  const [output, times] = [join(folder, "../output"), join(folder, "../times")];
  const [to, timesTo] = [openSync(output, "w"), openSync(times, "w")];
  const script = `TIMEFORMAT="%R %U %S"; { time "$@" 2>&4; } 4>&2 2>&3`;
  const child = spawn("bash", ["-c", script, "bash", process.execPath, ...command], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", to, to, timesTo],
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", FORCE_COLOR: "0" },
  });
  const leader = child.pid!;
  let peakPages = 0;
  const timer = setInterval(() => {
    peakPages = Math.max(peakPages, session(leader).pages);
  }, SAMPLE_MS);
  const watchdog = setTimeout(() => process.kill(-leader, "SIGKILL"), TIMEOUT_MS);
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  clearInterval(timer);
  clearTimeout(watchdog);
  closeSync(to);
  closeSync(timesTo);
  const endMs = performance.now() + LAST_EXIT_MS;
  while (session(leader).count > 0 && performance.now() < endMs) await sleep(SAMPLE_MS);
  const { count: leftOver } = session(leader);
  if (leftOver > 0) process.kill(-leader, "SIGKILL");
  const [wallS = 0, userS = 0, systemS = 0] = readFileSync(times, "utf8").split(" ").map(Number);
  const compared = written.filter((path) => !path.endsWith("/cache"));
  const result = [
    `exit code ${code}`,
    normalise(readFileSync(output, "utf8"), folder),
    ...compared.flatMap(hashFiles),
  ].join("\n");
  return { result, wallS, processorS: userS + systemS, peakPages, leftOver };
}

/** Where two results differ first. */
function differenceOf(original: string, ours: string): string {
  const [theirs, own] = [original.split("\n"), ours.split("\n")];
  const at = theirs.findIndex((line, index) => line !== own[index]);
  const around = (lines: readonly string[]) => lines.slice(at, at + 5).join("\n  ");
  return `original:\n  ${around(theirs)}\nours:\n  ${
    around(at < 0 ? own.slice(theirs.length) : own)
  }`;
}

/** Ours divided by the original, as a median with its 95 % interval; in bold where all of the interval is a loss. */
function ratio(pairs: readonly (readonly [Run, Run])[], figure: (run: Run) => number): string {
  const ratios = pairs.map(([original, ours]) => figure(ours) / figure(original));
  const { low, high } = bootstrapInterval((draw) => median(ratios.map(() => draw(ratios))));
  const text = `${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
  return low > 1 ? `**${text}**` : text;
}

function row(client: Client, pairs: readonly (readonly [Run, Run])[]): string[] {
  const [originals, ours] = [pairs.map(([run]) => run), pairs.map(([, run]) => run)];
  const leftOver = Math.max(...ours.map((run) => run.leftOver));
  return [
    client.title,
    `\`${client.swaps}\``,
    `${median(originals.map(({ wallS }) => wallS)).toFixed(2)} s`,
    ratio(pairs, ({ wallS }) => wallS),
    ratio(pairs, ({ processorS }) => processorS),
    ratio(pairs, ({ peakPages }) => peakPages),
    leftOver > 0 ? `**${leftOver}**` : "0",
  ];
}

const HEADER = [
  "Program",
  "With ours for",
  "Original takes",
  "Time",
  "Processor time",
  "Peak memory",
  "Left over",
];

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "7" },
    only: { type: "string" },
    check: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const names = values.only?.split(",") ?? Object.keys(CLIENTS);
const count = values.check ? 1 : Number(values.pairs);
const unknown = names.find((name) => !(name in CLIENTS));
if (unknown !== undefined) {
  throw new Error(`--only may name ${Object.keys(CLIENTS).join(", ")}; got ${unknown}`);
}
if (!Number.isInteger(count) || count < 1) {
  throw new Error(`--pairs is a number from 1; got ${values.pairs}`);
}
if (values.write && (values.check || values.only !== undefined)) {
  throw new Error("--write needs the figures of all programs: leave out --check and --only");
}

const cache = values.fresh
  ? mkdtempSync(join(tmpdir(), "heddle-clients-"))
  : join(tmpdir(), "heddle-clients");
process.on("exit", () => {
  if (values.fresh) rmSync(cache, { recursive: true });
});

/** The folders of a client's project with the original and with ours; undefined if npm cannot install the program. */
function prepare(name: string, client: Client): readonly [string, string] | undefined {
  const overrides = {
    [client.swaps]: `file:${packed(`packages/${client.swaps}`)}`,
    heddle: `file:${packed(".")}`,
  };
  let folders: readonly [string, string];
  try {
    folders = [install(client.packages, {}), install(client.packages, overrides)];
  } catch (error) {
    console.log(`${name}: skipped, npm cannot install it: ${(error as Error).message}`);
    return undefined;
  }
  checkOverride(folders[1], client.swaps);
  const [original, ours] = folders.map((folder) => join(folder, "projects", name));
  for (const folder of [original!, ours!]) writeProject(folder, client.files);
  return [original!, ours!];
}

mkdirSync(cache, { recursive: true });
const rows: string[][] = [];
for (const name of names) {
  const client = CLIENTS[name]!;
  const folders = prepare(name, client);
  if (folders === undefined) continue;
  const pairs: (readonly [Run, Run])[] = [];
  for (let pair = 0; pair < count; pair++) {
    const isReversed = pair % 2 === 1;
    const first = await run(client, folders[isReversed ? 1 : 0]);
    const second = await run(client, folders[isReversed ? 0 : 1]);
    const [original, ours] = isReversed ? [second, first] : [first, second];
    if (original.result !== ours.result) {
      console.log(`${name}: DIFFERENT\n${differenceOf(original.result, ours.result)}`);
      process.exitCode = 1;
      break;
    }
    pairs.push([original, ours]);
  }
  if (pairs.length < count) continue;
  if (pairs[0]![0].result.includes(MISSING)) {
    console.log(`${name}: the program has failed, with both\n${pairs[0]![0].result}`);
    process.exitCode = 1;
    continue;
  }
  if (pairs.some(([, ours]) => ours.leftOver > 0)) process.exitCode = 1;
  console.log(
    `${name}: equal, ${pairs[0]![0].result.length} characters, ${
      pairs[0]![0].result.split("\n")[0]
    }`,
  );
  rows.push(row(client, pairs));
}

const few = count < 5
  ? "; with fewer than five pairs the interval is little more than their range"
  : "";
const { cpu, cores } = describeMachine();
const date = new Date().toISOString().slice(0, 10);
const note = `_${count} pairs on Node ${process.version}; ${cpu}, ${cores} cores, ${date}${few}._`;
const lines = table(HEADER, rows);
if (!values.check) console.log(lines.join("\n"));
if (values.write) {
  if (rows.length < names.length) {
    throw new Error(`${PAGE} is unchanged: not all programs have run`);
  }
  const page = readFileSync(join(root, PAGE), "utf8");
  const [begin, end] = [page.indexOf(MARKS[0]) + MARKS[0].length, page.indexOf(MARKS[1])];
  writeFileSync(
    join(root, PAGE),
    `${page.slice(0, begin)}\n${lines.join("\n")}\n\n${note}\n\n${page.slice(end)}`,
  );
}
