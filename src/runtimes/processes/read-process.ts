/** What a process uses, as Linux tells it. */
import { Promise } from "../../builtins.ts";
import { process } from "../node-api/process/process.ts";
import type { WorkerReading } from "../worker-handle.ts";

/** The unit of times there (USER_HZ, 100 wherever a runtime runs). */
const TICK_MS = 10;

/** Undefined: there is no such process, or it cannot be known (other systems; Deno without all rights). */
export async function readProcess(pid: number | undefined): Promise<WorkerReading | undefined> {
  if (pid === undefined || process.platform !== "linux") return undefined;
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  try {
    const [status, stat] = await Promise.all(
      ["status", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8")),
    );
    const residentKiB = /^VmRSS:\s+(\d+)/m.exec(status!)?.[1];
    // Behind the name, which may contain anything: the state, 10 other fields, user and system time.
    const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ");
    return {
      heapBytes: undefined,
      residentBytes: residentKiB === undefined ? undefined : Number(residentKiB) * 1024,
      processorMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    };
  } catch {
    return undefined;
  }
}
