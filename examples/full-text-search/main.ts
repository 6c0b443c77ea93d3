/** Searches texts by an index that each worker holds. */
import { createPool } from "heddle";
import type { Text } from "./setup.ts";

const FILLER = 500;
const texts: Text[] = [
  { id: 1, title: "Whales", body: "Whales are mammals that live in the sea." },
  { id: 2, title: "Sharks", body: "Sharks are fish with a skeleton of cartilage." },
  { id: 3, title: "Bats", body: "Bats are mammals that fly at night." },
];
for (let id = 4; id < FILLER; id++) {
  texts.push({ id, title: `Stone ${id}`, body: `Stone number ${id} lies at the beach.` });
}

const setup = new URL("./setup.ts", import.meta.url);
const tasks = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2, worker: { setup, data: texts } })<
  typeof import("./tasks.ts")
>(tasks);
for (const query of ["mammals fly", "cartilge", "skel"]) {
  console.log(`${query}: ${(await pool.call.search(query, 2)).join(", ")}`);
}
await pool.shutdown();
