/** One file, read and checked. It knows of no workers. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { checkRules, type Problem } from "./rules.ts";
import { tokenize } from "./tokenizer.ts";

/** Two faults that a linter with rules of others has to survive; files in the tests ask for them. */
function failOnDemand(text: string): void {
  if (text.startsWith("// crash")) process.exit(3);
  if (text.startsWith("// overflow")) failOnDemand(`${text} `);
}

export function checkFile(path: string): Problem[] {
  const text = readFileSync(path, "utf8");
  failOnDemand(text);
  return checkRules(text, tokenize(text));
}
