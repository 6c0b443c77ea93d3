/**
 * The CPU profile of this thread, by `node:inspector`, which Node, Deno and Bun have in workers. A worker loads this file when it is
 * profiled.
 */
import type { Session } from "node:inspector";
import { JSON, Promise, setTimeout } from "../../builtins.ts";
import { process } from "./process/process.ts";

/** Samples this thread for `durationMs`, or longer if it is busy at the end. Returns the profile as JSON. */
export async function profileThread(durationMs: number): Promise<string> {
  const { Session } = process.getBuiltinModule("node:inspector");
  const session = new Session();
  session.connect();
  try {
    await post(session, "Profiler.enable");
    await post(session, "Profiler.start");
    await deoptimize(session);
    await new Promise<void>((resolve) => void setTimeout(resolve, durationMs));
    const { profile } = await post(session, "Profiler.stop") as { profile: unknown };
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

/**
 * V8 counts samples of functions that it inlined before the profile for the function around them: tasks would appear as a function
 * of heddle's. Starting coverage drops all optimized code; what is optimized from then on has the names of inlined functions.
 */
async function deoptimize(session: Session): Promise<void> {
  try {
    await post(session, "Profiler.startPreciseCoverage");
    await post(session, "Profiler.stopPreciseCoverage");
  } catch {
    // Bun has no coverage, and no need for this
  }
}

function post(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error, result) => error === null ? resolve(result) : reject(error));
  });
}
