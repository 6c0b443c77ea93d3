/** A process that loads a server: name of the load and its options as JSON; prints what it found as JSON. */
import process from "node:process";

const LOADS: Readonly<Record<string, () => Promise<{ run(options: never): Promise<unknown> }>>> = {
  "autocannon": () => import("./autocannon.ts"),
  "gets": () => import("./gets.ts"),
  "short-tasks": () => import("./short-tasks.ts"),
  "websockets": () => import("./websockets.ts"),
  "mixed": () => import("./mixed.ts"),
};

const [name = "", options = "{}"] = process.argv.slice(2);
const { run } = await LOADS[name]!();
const found = await run(JSON.parse(options) as never);
await new Promise((resolve) => process.stdout.write(JSON.stringify(found), resolve));
process.exit(0);
