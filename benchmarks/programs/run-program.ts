/** Runs a program once: its figures from outside, and whether it printed what it must. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type Program, type Scale, scaled } from "./catalogue.ts";
import { measuringProgram } from "./languages.ts";

export interface Figures {
  /** From just before the process is created until it has ended. */
  readonly seconds: number;
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

const NS_PER_S = 1e9;
const US_PER_S = 1e6;
const KIB_PER_MIB = 1024;

/** Where output goes: memory where the system has a folder for it, so that no disk takes part. */
const outputFolder = (): string => existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The command that runs a program in JavaScript or with heddle on this runtime. */
export function scriptCommand(folder: "js" | "heddle", program: string): readonly string[] {
  const file = fileURLToPath(new URL(`./${folder}/${program}.js`, import.meta.url));
  const flags = "Deno" in globalThis ? ["run", "-A", "--quiet", "--no-lock"] : [];
  return [process.execPath, ...flags, file];
}

/** Bytes of a source file in gzip, comments included. */
export const sourceBytes = (file: string): number =>
  gzipSync(readFileSync(file), { level: 9 }).length;

/** What a program printed, as the catalogue has it. */
export const textOf = (output: Uint8Array, { isHashed }: Program): string =>
  isHashed === true
    ? createHash("sha256").update(output).digest("hex")
    : new TextDecoder().decode(output).trim();

/** Runs it at a scale and throws if it fails or its result is wrong. `after` follows the size. */
export function runProgram(
  command: readonly string[],
  program: Program,
  language: string,
  scale: Scale,
  after: readonly string[] = [],
): Figures {
  const { size, result } = scaled(program, language, scale);
  const folder = mkdtempSync(join(outputFolder(), "heddle-programs-"));
  try {
    const figures = join(folder, "figures");
    const output = join(folder, "output");
    const args = [figures, output, ...command, ...program.before, String(size), ...after];
    const { status, stderr, error } = spawnSync(measuringProgram(), args, {
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      // Flags of whoever runs this are not the program's.
      env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" },
    });
    if (status !== 0) {
      throw error ?? new Error(`${program.name} in ${language} ended with ${status}: ${stderr}`);
    }
    const printed = textOf(readFileSync(output), program);
    if (printed !== result) {
      throw new Error(`${program.name} ${size} in ${language}: ${printed} instead of ${result}`);
    }
    const [ns = 0, us = 0, kib = 0] = readFileSync(figures, "utf8").split(" ").map(Number);
    return { seconds: ns / NS_PER_S, cpuSeconds: us / US_PER_S, peakMiB: kib / KIB_PER_MIB };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
