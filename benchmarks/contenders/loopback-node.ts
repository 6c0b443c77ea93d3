/** Node's servers: `node:http`, and `ws`, as Node has none of its own for websockets. */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import type { EchoContender } from "./echo-contender.ts";
import { type Client, createLoopback, inOrder, reply } from "./loopback.ts";

export const websocket: EchoContender = createLoopback({
  name: "websocket",
  module: import.meta.url,
  listen: () =>
    new Promise((resolve) => {
      const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
      server.on("connection", (socket) => {
        socket.on("message", (data) => socket.send(reply(String(data))));
      });
      server.on("listening", () => resolve((server.address() as AddressInfo).port));
    }),
  connect: connectWs,
});

/** By `ws` as well: faster than Node's own `WebSocket`. */
async function connectWs(port: number): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  const { send, settle } = inOrder((text) => socket.send(text));
  socket.on("message", (data) => settle(String(data)));
  return { send, close: () => socket.close() };
}

export const http: EchoContender = createLoopback({
  name: "HTTP",
  module: import.meta.url,
  listen: () =>
    new Promise((resolve) => {
      const server = createServer((incoming, response) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (part: string) => text += part);
        incoming.on("end", () => response.end(reply(text)));
      });
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    }),
  connect: (port) => {
    // Faster than Node's `fetch`.
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
  },
});
