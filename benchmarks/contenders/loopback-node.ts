/** Clients of Node by `ws` and `node:http`, which are faster than its own `WebSocket` and `fetch`. */
import { Agent, request } from "node:http";
import { WebSocket } from "ws";
import { createLoopback, inOrder } from "./loopback.ts";
import type { EchoContender } from "./types.ts";

export const websocket: EchoContender = createLoopback("websocket", async (port) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  const { send, settle } = inOrder((text) => socket.send(text));
  socket.on("message", (data) => settle(String(data)));
  return { send, close: () => socket.close() };
});

export const http: EchoContender = createLoopback("HTTP", (port) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  return Promise.resolve({
    send: (text) =>
      new Promise((resolve, reject) => {
        const options = { port, host: "127.0.0.1", method: "POST", agent };
        const outgoing = request(options, (incoming) => {
          let answer = "";
          incoming.setEncoding("utf8").on("data", (part: string) => answer += part);
          incoming.on("end", () => resolve(answer));
        });
        outgoing.on("error", reject);
        outgoing.end(text);
      }),
    close: () => agent.destroy(),
  });
});
