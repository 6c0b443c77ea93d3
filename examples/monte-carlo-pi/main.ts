/** Estimates π from random points, a share of them in each call. */
import { createPool } from "heddle";

const SHARES = 8;
const POINTS = 500_000;

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
const shares = Array.from({ length: SHARES }, (_, seed) => pool.call.hits(seed, POINTS));
const hits = (await Promise.all(shares)).reduce((sum, count) => sum + count, 0);
console.log((4 * hits / (SHARES * POINTS)).toFixed(3));
await pool.shutdown();
