/** Hashes and checks passwords in workers, with a limit on time and on waiting calls. */
import { createPool, QueueFullError } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2, maxQueue: 16 })<typeof import("./tasks.ts")>(url);
const hashPassword = pool.call.hashPassword.with({ timeoutMs: 10_000 });

const stored = await hashPassword("correct horse");
console.log(await pool.call.verifyPassword("correct horse", stored));
console.log(await pool.call.verifyPassword("wrong horse", stored));

// A flood: some calls are refused at once instead of waiting without end.
const flood = await Promise.allSettled(
  Array.from({ length: 60 }, (_, n) => hashPassword(`password ${n}`)),
);
const refused = flood.filter((result) => result.status === "rejected");
console.log(refused.length > 0 && refused.every(({ reason }) => reason instanceof QueueFullError));
await pool.shutdown();
