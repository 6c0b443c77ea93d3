/** Bun's own server and clients. */
import type { EchoContender } from "./echo-contender.ts";
import { connectFetch, connectWebSocket, createLoopback, reply } from "./loopback.ts";

interface BunServer {
  readonly port: number;
  upgrade(request: Request): boolean;
}
interface BunSocket {
  send(text: string): void;
}
declare const Bun: {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    fetch(request: Request, server: BunServer): Response | Promise<Response> | undefined;
    readonly websocket?: { message(socket: BunSocket, text: string): void };
  }): BunServer;
};

const PLACE = { port: 0, hostname: "127.0.0.1" };

export const websocket: EchoContender = createLoopback({
  name: "websocket",
  module: import.meta.url,
  listen: () => {
    const server = Bun.serve({
      ...PLACE,
      fetch: (request, upgrading) => {
        upgrading.upgrade(request);
        return undefined;
      },
      websocket: { message: (socket, text) => socket.send(reply(text)) },
    });
    return Promise.resolve(server.port);
  },
  connect: connectWebSocket,
});

export const http: EchoContender = createLoopback({
  name: "HTTP",
  module: import.meta.url,
  listen: () => {
    const server = Bun.serve({
      ...PLACE,
      fetch: async (request) => new Response(reply(await request.text())),
    });
    return Promise.resolve(server.port);
  },
  connect: connectFetch,
});
