/** Prints the time from the start of this process to the first answer of a worker, and the processor time until then, in ms. */
import process from "node:process";

const [, , tasks, folder = "", order = "first"] = process.argv;
const url = new URL(tasks, import.meta.url);

async function createPool() {
  const { createPool } = await import("../../dist/mod.js");
  return createPool({ threads: 1, compileCache: folder === "" ? false : folder })(url);
}

let pool = order === "last" ? undefined : createPool();
if (order !== "only") {
  pool = await pool;
  await import("typescript"); // as a program of its own does that has much to load
}
pool = await (pool ?? createPool());
if (await pool.call.answer(1) !== 2) throw new Error("wrong answer");
const { user, system } = process.cpuUsage();
console.log(performance.now(), (user + system) / 1000);
await pool.shutdown();
