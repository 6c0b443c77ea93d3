/** `node program.ts CONTENDER FOLDER`: lints a folder and prints how many files and problems there are. */
import process from "node:process";
import { findFiles } from "../../examples/lint-cli/files.ts";
import { LIBRARIES, OPTIONS } from "./contenders.ts";

const [name = "", folder = ""] = process.argv.slice(2);
const contender = LIBRARIES[name] ?? OPTIONS[name];
if (contender === undefined) throw new Error(`There is no contender "${name}".`);
const linter = await contender.start(); // first: its workers start while the files are looked for
const problems = await linter.lint(findFiles([folder]));
console.log(`${problems.length} files, ${problems.flat().length} problems`);
await linter.close();
