/** Limits on the requests of all workers together: how many a user may make, and how many run at once. */
import { createPool } from "heddle";
import { AtomicCounter, Semaphore, SharedMap } from "heddle/shared";
import type { Bucket, Limits } from "./tasks.ts";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 3 })<typeof import("./tasks.ts")>(url);

const limits: Limits = {
  buckets: new SharedMap<string, Bucket>(),
  semaphore: new Semaphore(4),
  running: new AtomicCounter(),
  maxRunning: new AtomicCounter(),
};

for (let second = 0; second < 4; second++) {
  const requests = Array.from({ length: 20 }, (_, n) => {
    return pool.call.request(n % 2 === 0 ? "Ada" : "Grace", second, limits);
  });
  const results = await Promise.all(requests);
  const accepted = (part: number): number => results.filter((is, n) => is && n % 2 === part).length;
  console.log(`second ${second}: accepted ${accepted(0)} of Ada, ${accepted(1)} of Grace`);
}
console.log(`never more than 4 at once: ${limits.maxRunning.value <= 4}`);
await pool.shutdown();
