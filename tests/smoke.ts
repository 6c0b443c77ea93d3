import { createPool, isMain } from "../src/mod.ts";
export const echo = (x: unknown) => x;
export const add = (a: number, b: number) => a + b;
export const sleep = (ms: number) => new Promise((r) => setTimeout(() => r("slept"), ms));
export const boom = () => { throw new TypeError("boom", { cause: new RangeError("inner") }); };
export const avoid = async () => {};
if (isMain) {
  const pool = createPool({ threads: 2 })({ echo, add, sleep, boom, avoid });
  await pool.ready;
  console.log(await pool.call.add(1, 2), await pool.call.echo("héé\ud800"), await pool.call.sleep(20));
  try { await pool.call.boom(); } catch (e) { console.log(e instanceof TypeError, (e as Error).message, (e as Error).cause instanceof RangeError); }
  console.log(await pool.call.echo({ a: new Map([[1, [new Date(0)]]]), b: 10n }), await pool.call.echo(new Float64Array([1, 2])), await pool.call.echo(Buffer.from("hi")));
  const big = await pool.call.echo(new Uint8Array(5e6).fill(7)) as Uint8Array; console.log(big.length, big[4999999]);
  console.log(await Promise.all(Array.from({ length: 1000 }, (_, i) => pool.call.add(i, 1))).then((a) => a.reduce((x, y) => x + y)));
  console.log(await Promise.all(Array.from({ length: 5000 }, () => pool.call.avoid())).then((a) => a.length));
  console.log(await pool.call.echo((() => {}) as unknown).catch((e) => [e.name, e.code, e.message]));
  console.log(pool.stats());
  if (process.argv[2] !== "noshut") await pool.shutdown();
}
