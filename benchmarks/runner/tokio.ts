/** The Rust baseline: built once, where cargo is there. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { perCall } from "../harness/derived.ts";
import type { Run } from "./measure.ts";
import { log } from "./terminal.ts";
import type { Choices, Scenario } from "./scenario.ts";

const folder = fileURLToPath(new URL("../tokio/", import.meta.url));

const TOKIO = "tokio mpsc + oneshot";
const CROSSBEAM = "crossbeam-channel";
const SPINNING = "spinning pair";
const SHARED = "tokio, Arc<Vec<u8>>";

const CONTENDERS: Readonly<Record<string, readonly string[]>> = {
  "latency": [TOKIO],
  "tokio": [TOKIO, CROSSBEAM, SPINNING, SHARED],
};

export const hasCargo = (): boolean => {
  try {
    execFileSync("cargo", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

let isBuilt = false;

/** Versions of the crates that are compared. */
export function crateVersions(): Record<string, string> {
  const lock = readFileSync(`${folder}Cargo.lock`, "utf8");
  const versionOf = (crate: string): string =>
    new RegExp(`name = "${crate}"\nversion = "([^"]+)"`).exec(lock)?.[1] ?? "unknown";
  return { "tokio": versionOf("tokio"), "crossbeam-channel": versionOf("crossbeam-channel") };
}

/** Tokio's part of a scenario. Throws where the build fails. */
export function tokioRun(
  name: string,
  { rounds }: Pick<Scenario, "rounds">,
  choices: Choices,
): Run {
  if (!isBuilt) {
    log("tokio: building (cargo build --release)");
    execFileSync("cargo", ["build", "--release", "--quiet"], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
    isBuilt = true;
  }
  const versions = crateVersions();
  return {
    name,
    scenario: { rounds, derived: [perCall] },
    runtime: "tokio",
    version: versions["tokio"]!,
    choices,
    contenders: CONTENDERS[name]!.map((contender) => ({
      name: contender,
      args: ["--scenario", name, "--contender", contender],
    })),
    command: ({ args }) => [
      `${folder}target/release/heddle-tokio-baseline`,
      ...args,
      ...(choices.isQuick ? ["--quick"] : []),
    ],
    env: {},
    versions,
  };
}
