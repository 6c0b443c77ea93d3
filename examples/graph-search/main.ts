/** The fewest moves of a knight from a corner of a board to each square, searched by several workers at once. */
import { createPool } from "heddle";
import { Barrier, SharedVector } from "heddle/shared";

const THREADS = 2;
const SIZE = 200;

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: THREADS })<typeof import("./tasks.ts")>(url);

/** Moves to each square, plus one; 0 if no worker has visited it. */
const distances = new SharedVector("u32", { length: SIZE * SIZE });
/** Visited squares, ordered by distance. */
const queue = new SharedVector("u32", { maxLength: SIZE * SIZE });
distances.set(0, 1);
queue.push(0);

const barrier = new Barrier(THREADS);
const counts = await Promise.all(
  Array.from(
    { length: THREADS },
    (_, part) => pool.call.visit({ size: SIZE, distances, queue, barrier, part, parts: THREADS }),
  ),
);

const visited = counts.reduce((sum, count) => sum + count, 1);
console.log(`${visited} squares visited, ${new Set(queue).size} different`);
const farthest = queue.at(-1)!;
console.log(`the last one is ${distances.at(farthest)! - 1} moves away`);
await pool.shutdown();
