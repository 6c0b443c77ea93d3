import { createPool, importTask } from "heddle";
import { join } from "node:path";

export const dynamic = "force-dynamic";

// Next bundles this file, so the path of the tasks is that of the working directory.
const tasks = join(process.cwd(), "tasks.mjs");
let pool;
let other;

export async function GET() {
  pool ??= createPool({ threads: 1 })(tasks);
  other ??= createPool({ threads: 1 })({ sum: importTask({ href: tasks, name: "add" }) });
  return Response.json([await pool.call.add(20, 22), await other.call.sum(1, 2)]);
}
