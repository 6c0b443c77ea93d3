/** The three calls of `latency` over `postMessage`. */
import type { LatencyContender } from "./contender.ts";
import { ASYNC_NOTHING, ECHO, NOTHING } from "./message-calls.ts";
import { startThread } from "./thread-messages.ts";

export const postMessage: LatencyContender = {
  name: "postMessage",
  async start() {
    const { call, close } = await startThread();
    return {
      echo: (value) => call(ECHO, value) as Promise<number>,
      nothing: () => call(NOTHING),
      asyncNothing: () => call(ASYNC_NOTHING),
      close,
    };
  },
};
