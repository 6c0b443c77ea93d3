/** A table of jobs in shared memory: workers claim jobs and write their results. */
import { createPool } from "heddle";
import { SharedMap } from "heddle/shared";
import type { Job } from "./tasks.ts";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

const jobs = new SharedMap<string, Job>();
const inputs = [1000, 10_000, 50_000, 100_000, 200_000];
for (const limit of inputs) jobs.set(`primes below ${limit}`, { state: "queued", limit });

const work = Promise.all([pool.call.work(jobs), pool.call.work(jobs)]);
for (const limit of inputs) {
  const name = `primes below ${limit}`;
  const { result } = await jobs.wait(name, ({ state }) => state === "done");
  console.log(`${name}: ${result}`);
}
const [one, other] = await work;
console.log(`${one + other} jobs run`);
await pool.shutdown();
