/** Requests one by one, which a model in a worker gets in batches. */
import { createPool } from "heddle";

const url = new URL("./model.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./model.ts")>(url);
const classes = ["cat", "dog", "bird"];
const models = await Promise.all([pool.spawn.Model(classes), pool.spawn.Model(classes)]);
const batcher = await pool.spawn.Batcher(models);

const inputs = Array.from(
  { length: 40 },
  (_, seed) => Float64Array.from({ length: 64 }, (_, n) => Math.cos(seed * 7 + n)),
);
const names = await Promise.all(inputs.map((input) => batcher.classify(input)));
for (const name of classes) {
  console.log(`${name}: ${names.filter((each) => each === name).length}`);
}
const runs = await Promise.all(models.map((model) => model.runs()));
console.log(runs.reduce((sum, each) => sum + each) < 40 ? "in batches" : "one by one");

await pool.shutdown();
