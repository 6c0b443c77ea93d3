import { createPool, isMain } from "heddle";
import { task } from "heddle/task";
export const twice = task({ f: (n: number): number => n * 2 });
export const add = (a: number, b: number): number => a + b;
enum Color {
  Red = 40,
}
const tasks = new URL("./tasks.ts", import.meta.url);
async function run() {
  const pool = createPool({ threads: 1 })({ twice, add });
  const other = createPool({ threads: 1 })<typeof import("./tasks.ts")>(tasks);
  console.log(await pool.call.twice(1), await pool.call.add(Color.Red, 2), await other.call.red());
  await Promise.all([pool.shutdown(), other.shutdown()]);
}
if (isMain) void run();
