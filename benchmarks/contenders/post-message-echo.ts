/** Any value over `postMessage`, and memory along with its transfer list. */
import type { EchoContender } from "./echo-contender.ts";
import { ECHO, ECHO_MOVED, type MessageCalls } from "./message-calls.ts";

/** `startWorker` starts the kind of worker that is at its best on the runtime. */
export function postMessageEcho(startWorker: () => Promise<MessageCalls>): EchoContender {
  return {
    name: "postMessage",
    refuses: ({ route }) => route === "struct" ? "postMessage has no declared layouts" : undefined,
    async start(route) {
      const { call, close } = await startWorker();
      return {
        echo: route === "move"
          ? (value) => call(ECHO_MOVED, value, [value as ArrayBuffer])
          : (value) => call(ECHO, value),
        close,
      };
    },
  };
}
