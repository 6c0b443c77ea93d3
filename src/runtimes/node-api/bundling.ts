/** What `heddle/bundler` asks of Node, Deno and Bun, and says of them. Not in `Runtime`: programs do not need it. */
import { process } from "./process/process.ts";

export function readText(path: string): Promise<string> {
  return process.getBuiltinModule("node:fs/promises").readFile(path, "utf8");
}

/** The URL of the file that runs, in an output of this format. */
export function baseOf(format: string): string {
  return format === "cjs" ? 'require("node:url").pathToFileURL(__filename)' : "import.meta.url";
}
