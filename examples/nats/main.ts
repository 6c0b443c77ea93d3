/**
 * Calls tasks on other machines. Needs nothing but two binaries, each in a terminal of its own:
 *
 *   nats-server
 *   node machine.ts
 *   node main.ts
 *
 * or Docker: `docker compose up --scale machine=3`.
 */
import { connectPool } from "heddle/nats";

const pool = connectPool({
  servers: process.env["NATS_SERVERS"] ?? "127.0.0.1:4222",
  subject: "primes",
})<typeof import("./tasks.ts")>();
const ranges = Array.from({ length: 10 }, (_, n) => [n * 10_000, (n + 1) * 10_000] as const);
const { countPrimes } = pool.call;
const counts = await Promise.all(
  ranges.map((range) => countPrimes.with({ retries: 3 })(...range)),
);
console.log(counts.reduce((one, other) => one + other));
for await (const prime of pool.call.primes(1_000_000)) {
  if (prime > 1000) {
    console.log(prime);
    break;
  }
}
await pool.shutdown();
