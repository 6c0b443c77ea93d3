/** Channels and mutexes of Go and Rust: programs that are built where their tools are installed, and left out with the reason elsewhere. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RoundGap } from "../harness/schema.ts";
import { buildFile, languageOf, whyMissing } from "../programs/languages.ts";
import * as shared from "../scenarios/shared-cases.ts";

/** A sample of a figure: nanoseconds for each operation. */
export interface NativeFigure {
  readonly contender: string;
  readonly case: string;
  readonly size: number;
  readonly ns: number;
}

export interface NativePrograms {
  /** Each runs a program once. */
  readonly runs: readonly (() => readonly NativeFigure[])[];
  /** What has no figures here, and why. */
  readonly gaps: readonly RoundGap[];
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const CARGO_FOLDER = pathOf("../tokio/");
const CARGO_PROGRAM = pathOf("../tokio/target/release/heddle-tokio-baseline");

const CHANNELS = [shared.CHANNEL_ALONE, shared.CHANNEL].map((name) => ({
  case: name,
  size: shared.NUMBER_BYTES,
}));
const MUTEXES = shared.LOCKING_THREADS.map((size) => ({ case: shared.MUTEX, size }));
/** What each program measures. */
const PLACES = {
  [shared.GO]: [...CHANNELS, ...MUTEXES],
  [shared.RUST]: [...CHANNELS, ...MUTEXES],
  [shared.CROSSBEAM]: CHANNELS,
  [shared.TOKIO]: CHANNELS,
} as const;

/** The command of a program, or why there is none. */
type Found = { readonly command: readonly string[] } | { readonly reason: string };

function findGo(): Found {
  const go = languageOf("Go");
  const reason = whyMissing(go);
  if (reason !== undefined) return { reason };
  return { command: [buildFile(go, pathOf("./channels.go"), "shared-channels")] };
}

/** Cargo may have to fetch the libraries, which takes a network. It does nothing if the program is up to date. */
function findRust(isQuick: boolean): Found {
  if (isQuick && !existsSync(CARGO_PROGRAM)) {
    return { reason: "a quick run does not build the program in Rust" };
  }
  try {
    execFileSync("cargo", ["build", "--release", "--quiet", "--locked"], {
      cwd: CARGO_FOLDER,
      stdio: ["ignore", "ignore", "pipe"],
    });
    return { command: [CARGO_PROGRAM, "--scenario", "shared"] };
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { readonly stderr?: unknown };
    if (code === "ENOENT") return { reason: "cargo is not installed" };
    const [line = ""] = String(stderr ?? error).trim().split("\n");
    return { reason: `cargo cannot build it here: ${line}` };
  }
}

/** The figures that a program prints, as JSON. */
function run(contender: string, command: readonly string[]): readonly NativeFigure[] {
  const [file = "", ...args] = command;
  const text = execFileSync(file, args, { encoding: "utf8" });
  const figures = JSON.parse(text) as { case: string; size: number; samples: number[] }[];
  return figures.flatMap(({ case: name, size, samples }) =>
    samples.map((ns) => ({ contender, case: name, size, ns }))
  );
}

/** Builds what can be built. A quick run builds nothing in Rust, and runs what was built before. */
export function nativePrograms(isQuick: boolean): NativePrograms {
  const rust = findRust(isQuick);
  const found: readonly (readonly [keyof typeof PLACES, Found])[] = [
    [shared.GO, findGo()],
    [shared.RUST, rust],
    [shared.CROSSBEAM, rust],
    [shared.TOKIO, rust],
  ];
  const runs: (() => readonly NativeFigure[])[] = [];
  const gaps: RoundGap[] = [];
  for (const [contender, program] of found) {
    if ("reason" in program) {
      const { reason } = program;
      gaps.push(
        ...PLACES[contender].map((each) => ({ contender, ...each, reason, isSkipped: true })),
      );
    } else {
      const command = contender === shared.GO
        ? program.command
        : [...program.command, "--contender", contender];
      runs.push(() => run(contender, command));
    }
  }
  return { runs, gaps };
}
