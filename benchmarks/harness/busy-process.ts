/** Processes that compute and do nothing else, for as long as this one wants. */
import { spawn } from "node:child_process";
import { NODE } from "./processes.ts";

/** They end by themselves when their parent is gone. */
const STEADILY = `
  const parent = process.ppid;
  process.stdout.write("busy");
  while (process.ppid === parent) for (let n = 0; n < 1e7; n++);
`;

/** Computes for 1 to 30 ms, then sleeps for as long, at random, as a build or a server does. */
const IN_BURSTS = `
  const parent = process.ppid;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const someMs = () => 1 + 29 * Math.random();
  process.stdout.write("busy");
  while (process.ppid === parent) {
    for (const end = performance.now() + someMs(); performance.now() < end;);
    Atomics.wait(nap, 0, 0, someMs());
  }
`;

/** Resolves when all of them compute. Returns a function that ends them. */
export async function startBusyProcesses(count: number, isInBursts: boolean): Promise<() => void> {
  const script = isInBursts ? IN_BURSTS : STEADILY;
  const children = Array.from(
    { length: count },
    () => spawn(NODE, ["--eval", script], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  const end = (): void => children.forEach((child) => void child.kill("SIGKILL"));
  const started = children.map((child) =>
    new Promise((resolve, reject) => {
      child.on("error", reject);
      child.stdout.once("data", resolve);
    })
  );
  try {
    await Promise.all(started);
  } catch (error) {
    end();
    throw error;
  }
  return end;
}
