/** `node main.ts [ORDERS]`: for how long the event loop is blocked when a large JSON text is made, and when one is read. */
import process from "node:process";
import { createPool } from "heddle";
import { createOrders, total } from "./tasks.ts";

const count = Number(process.argv[2] ?? 5000); // 150,000 are 20 MB
const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);
await pool.ready;

/** The longest time between two turns of the event loop while `f` runs. */
async function longestBlock(f: () => unknown): Promise<readonly [ms: number, result: unknown]> {
  let longest = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  longest = 0;
  const result = await f();
  await new Promise((resolve) => setTimeout(resolve, 5));
  look();
  clearInterval(timer);
  return [Math.round(longest), result];
}

/** A response to a client, of which only the length counts here. */
async function send(blocks: AsyncIterable<string> | Iterable<string>): Promise<number> {
  let length = 0;
  for await (const block of blocks) length += block.length;
  return length;
}

const orders = createOrders(count);
const body = new TextEncoder().encode(JSON.stringify(orders));
/** An upload, in pieces as a socket reads them. */
async function* upload(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += 64 << 10) {
    yield body.slice(at, at + (64 << 10));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ways: Record<string, () => unknown> = {
  "made by JSON.stringify here": () => send([JSON.stringify(createOrders(count))]),
  "objects of a worker, JSON.stringify here": async () =>
    send([JSON.stringify(await pool.call.createOrders(count))]),
  "one string of a worker": async () => send([await pool.call.stringify(count)]),
  "blocks of a worker": () => send(pool.call.stringifyInBlocks(count)),
  "read by JSON.parse here": () =>
    total(JSON.parse(new TextDecoder().decode(body)) as typeof orders),
  "read in a worker": () => pool.call.totalOf(upload()),
};
for (const [name, run] of Object.entries(ways)) {
  const [ms, result] = await longestBlock(run);
  console.log(`${name}: blocked for ${ms} ms, result ${result}`);
}
await pool.shutdown();
