/** `heddle/core` with the page's own workers, whose features a bundler splits. */
import { createPool } from "heddle/core";
import { map } from "heddle/features/map";
import { mirror } from "heddle/features/mirror";

async function run() {
  let refused = "none";
  try {
    await createPool({ threads: 1 })("./tasks.js").shutdown();
  } catch (error) {
    refused = error.message.split(":")[0];
  }
  const pool = createPool({ threads: 2, use: [map(), mirror()] })(
    () => new Worker(new URL("./core-worker.js", import.meta.url), { type: "module" }),
  );
  const list = [await pool.call.add(1, 2)];
  for await (const item of pool.map(pool.call.echo, [4, 5])) list.push(item);
  for await (const item of pool.call.count(2)) list.push(item);
  const late = await pool.call.later.with({ timeoutMs: 20 })(60_000).catch((error) => error.code);
  await pool.shutdown();
  return [list.join(), late, refused];
}
void run().catch((error) => [String(error)]).then((result) => {
  console.log(`RESULT ${JSON.stringify(result)}`);
});
