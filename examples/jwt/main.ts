/** Checks many tokens in workers and renews those that are valid. */
import { createPool } from "heddle";

const NOW = 1_800_000_000;

const setup = new URL("./setup.ts", import.meta.url);
const tasks = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2, worker: { setup, data: { secret: "a long secret" } } })<
  typeof import("./tasks.ts")
>(tasks);

const tokens = await Promise.all(
  Array.from({ length: 100 }, (_, n) => pool.call.sign({ sub: `user ${n}`, exp: NOW + n - 10 })),
);
tokens[50] = `${tokens[50]!.slice(0, -2)}AA`; // somebody has changed it

const results = await Promise.allSettled(
  tokens.map((token) => pool.call.renew.with({ timeoutMs: 10_000 })(token, NOW, 3600)),
);
const counts = new Map<string, number>();
for (const result of results) {
  const outcome = result.status === "fulfilled" ? "renewed" : (result.reason as Error).message;
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}
for (const [outcome, count] of [...counts].sort()) console.log(`${outcome}: ${count}`);
await pool.shutdown();
