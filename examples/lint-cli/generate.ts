/** `node generate.ts COUNT FOLDER`: makes source files to lint. */
import process from "node:process";
import { generate } from "./samples.ts";

const [count, folder] = process.argv.slice(2);
if (Number(count) > 0 && folder !== undefined) generate(Number(count), folder);
else {
  console.error("node generate.ts COUNT FOLDER");
  process.exitCode = 1;
}
