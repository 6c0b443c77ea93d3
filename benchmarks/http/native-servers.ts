/** The servers in Go and Rust, built where their toolchains are installed. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GO, HYPER } from "../scenarios/http-cases.ts";
import { Skipped } from "./skipped.ts";

interface NativeServer {
  readonly folder: string;
  readonly tool: string;
  readonly args: readonly string[];
  readonly program: string;
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const SERVERS: Readonly<Record<string, NativeServer>> = {
  [GO]: {
    folder: path("./go/"),
    tool: "go",
    args: ["build", "-o", "build/server", "main.go"],
    program: path("./go/build/server"),
  },
  [HYPER]: {
    folder: path("./rust/"),
    tool: "cargo",
    args: ["build", "--release", "--quiet", "--locked"],
    program: path("./rust/target/release/heddle-http-baseline"),
  },
};

/** Whether it was built before: quick runs build nothing. */
export const isBuilt = (name: string): boolean => existsSync(SERVERS[name]!.program);

/** Builds a server and returns its command. Throws `Skipped` if its toolchain is missing. */
export function nativeCommand(name: string): readonly string[] {
  const { folder, tool, args, program } = SERVERS[name]!;
  try {
    // Both tools do nothing if the program is up to date.
    execFileSync(tool, args, { cwd: folder, stdio: ["ignore", "inherit", "pipe"] });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new Skipped(`${tool} is not installed`);
    throw new Error(`${tool} failed: ${String((error as { stderr?: unknown }).stderr).trim()}`);
  }
  return [program];
}
