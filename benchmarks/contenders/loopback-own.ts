/** Clients of the runtime's own `WebSocket` and `fetch`, which keeps connections alive. */
import { createLoopback, inOrder } from "./loopback.ts";
import type { EchoContender } from "./types.ts";

export const websocket: EchoContender = createLoopback("websocket", async (port) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the websocket does not open"));
  });
  const { send, settle } = inOrder((text) => socket.send(text));
  socket.onmessage = ({ data }) => settle(data as string);
  return { send, close: () => socket.close() };
});

export const http: EchoContender = createLoopback("HTTP", (port) => {
  const url = `http://127.0.0.1:${port}/`;
  return Promise.resolve({
    send: async (text) => await (await fetch(url, { method: "POST", body: text })).text(),
    close: () => {},
  });
});
