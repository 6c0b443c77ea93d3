/** Takes a CPU profile of this thread. The code for that is loaded when it is used. */
import { textOf } from "../../../../codec/kinds/errors.ts";
import type { ProfileMessage, ProfileResponse } from "../messages.ts";

export async function profile({ durationMs, port }: ProfileMessage): Promise<void> {
  let response: ProfileResponse;
  try {
    const { profileThread } = await import("../../../../runtimes/node-api/profiler.ts");
    response = { profile: await profileThread(durationMs) };
  } catch (error) {
    response = { reason: textOf(error) };
  }
  port.postMessage(response);
}
