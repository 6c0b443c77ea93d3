/** A process that computes and does nothing else, for as long as this one wants. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The project's own Node, whatever runtime is measured. */
const NODE = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

/** It ends by itself when its parent is gone. */
const SPIN = `
  const parent = process.ppid;
  process.stdout.write("busy");
  while (process.ppid === parent) for (let n = 0; n < 1e7; n++);
`;

/** Resolves when it computes. Returns a function that ends it. */
export function startBusyProcess(): Promise<() => void> {
  const child = spawn(NODE, ["--eval", SPIN], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.stdout.once("data", () => resolve(() => void child.kill("SIGKILL")));
  });
}
