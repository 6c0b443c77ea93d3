/**
 * The CPU profile of this thread, by `node:inspector`, which Node, Deno and Bun have in workers. A worker loads this file when it is
 * profiled.
 */
import type { Session } from "node:inspector";
import { JSON, Promise, setTimeout } from "../builtins.ts";
import { process } from "./process.ts";

/** Samples this thread for `durationMs`, or longer if it is busy at the end. Returns the profile as JSON. */
export async function profileThread(durationMs: number): Promise<string> {
  const { Session } = process.getBuiltinModule("node:inspector");
  const session = new Session();
  session.connect();
  try {
    await post(session, "Profiler.enable");
    await post(session, "Profiler.start");
    await new Promise<void>((resolve) => void setTimeout(resolve, durationMs));
    const { profile } = await post(session, "Profiler.stop") as { profile: unknown };
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

function post(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error, result) => error === null ? resolve(result) : reject(error));
  });
}
