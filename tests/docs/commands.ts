/** Checks the lines of a `sh` block: files, scripts, options and scenarios that they name exist. */
import { readFileSync } from "node:fs";
import { SCENARIOS } from "../../benchmarks/runner/catalogue.ts";
import { existsInProject } from "./blocks.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const runOptions = new Set(read("benchmarks/run.ts").match(/--[a-z-]+/g));

const INSTALLS = /^(npm (install|i) |npm pkg set |bun add |deno add |npm (cit|test|ci|install)$)/;
const ENVIRONMENT = /^(?:[A-Z_]+=\S+ )+/;

function problemOfRun(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    if (word.startsWith("--") && !runOptions.has(word)) return `run.sh has no ${word}`;
    if (word !== "--only") continue;
    const unknown = words[at + 1]!.split(",").find((name) => !(name in SCENARIOS));
    if (unknown !== undefined) return `there is no scenario ${unknown}`;
  }
  return undefined;
}

/** Files of the program on the page, and of the project. */
function problemOfFiles(words: readonly string[], files: readonly string[]): string | undefined {
  const missing = words
    .filter((word) => /^[\w./-]+\.[cm]?[jt]sx?$/.test(word))
    .find((word) => !files.includes(word) && !existsInProject(word));
  return missing === undefined ? undefined : `there is no file ${missing}`;
}

function problemOfCommand(command: string, files: readonly string[]): string | undefined {
  if (INSTALLS.test(command)) return undefined;
  const [program, ...words] = command.replace(ENVIRONMENT, "").split(/\s+/);
  if (program === "./run.sh") return problemOfRun(words);
  if (program === "npm" && words[0] === "run") {
    return words[1]! in scripts ? undefined : `there is no script ${words[1]}`;
  }
  if (["cd", "mkdir", "nats-server"].includes(program!)) return undefined;
  if (["node", "bun", "deno", "vitest"].includes(program!)) return problemOfFiles(words, files);
  return `the test does not know the command ${program}`;
}

/** What is wrong with the commands of a block, one text for each. */
export function problemsOf(code: string, files: readonly string[]): string[] {
  return code.split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "")
    .flatMap((line) => line.split(" && "))
    .flatMap((command) => problemOfCommand(command.trim(), files) ?? []);
}
