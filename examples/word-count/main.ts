/** Counts the words of many texts on all cores: each text is counted in a worker, and so are the counts added. */
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

/** Texts are made as they are needed: a source may be longer than memory. */
function* texts(): Generator<string> {
  for (let n = 0; n < 5000; n++) {
    yield "The quick brown fox jumps over the lazy dog. ".repeat(1 + n % 3);
  }
}

const counts = await pool.reduce(pool.call.add, pool.map(pool.call.countWords, texts()));
const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, 3);
for (const [word, count] of most) console.log(`${word}: ${count}`);
await pool.shutdown();
