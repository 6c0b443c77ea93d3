/** `node main.ts [HASHES]`: `scrypt` blocks no event loop, so it needs no worker. What workers change is how long files wait meanwhile. */
import type { Buffer } from "node:buffer";
import { scrypt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createPool } from "heddle";
import { hash } from "./tasks.ts";

const passwords = Array.from({ length: Number(process.argv[2] ?? 8) }, (_, n) => `password ${n}`);
const pool = createPool({ threads: availableParallelism() })<typeof import("./tasks.ts")>(
  new URL("./tasks.ts", import.meta.url),
);
await pool.ready;
const scryptOfRuntime = promisify(scrypt) as (...args: [string, string, number]) => Promise<Buffer>;

const ways: Record<string, (password: string) => string | Promise<string>> = {
  "scryptSync": hash,
  "scrypt": async (password) => (await scryptOfRuntime(password, "salt", 32)).toString("hex"),
  "scryptSync in workers": pool.call.hash,
};

/** Calls `f` again and again until `isDone`; the longest time that it took. */
async function longest(f: () => Promise<unknown>, isDone: () => boolean): Promise<number> {
  let most = 0;
  while (!isDone()) {
    const startedAt = performance.now();
    await f();
    most = Math.max(most, performance.now() - startedAt);
  }
  return Math.round(most);
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
const read = () => readFile(fileURLToPath(import.meta.url));
const found = new Set<string>();
for (const [name, hashOne] of Object.entries(ways)) {
  let isDone = false;
  const blocked = longest(turn, () => isDone);
  const reading = longest(read, () => isDone);
  await turn();
  const startedAt = performance.now();
  const hashes = await Promise.all(passwords.map(hashOne));
  const ms = Math.round(performance.now() - startedAt);
  isDone = true;
  found.add(hashes.join());
  console.log(
    `${name}: ${ms} ms, event loop blocked for ${await blocked} ms, a file read in ${await reading} ms`,
  );
}
console.log("equal:", found.size === 1);
await pool.shutdown();
