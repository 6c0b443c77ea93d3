/** Deno's own server and clients. */
import type { EchoContender } from "./echo-contender.ts";
import { connectFetch, connectWebSocket, createLoopback, reply } from "./loopback.ts";

interface DenoServer {
  readonly addr: { readonly port: number };
}
declare const Deno: {
  serve(
    options: { readonly port: number; readonly hostname: string; readonly onListen: () => void },
    handler: (request: Request) => Response | Promise<Response>,
  ): DenoServer;
  upgradeWebSocket(request: Request): { readonly socket: WebSocket; readonly response: Response };
};

const OPTIONS = { port: 0, hostname: "127.0.0.1", onListen: () => {} };

export const websocket: EchoContender = createLoopback({
  name: "websocket",
  module: import.meta.url,
  listen: () => {
    const server = Deno.serve(OPTIONS, (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = ({ data }) => socket.send(reply(data as string));
      return response;
    });
    return Promise.resolve(server.addr.port);
  },
  connect: connectWebSocket,
});

export const http: EchoContender = createLoopback({
  name: "HTTP",
  module: import.meta.url,
  listen: () => {
    const server = Deno.serve(
      OPTIONS,
      async (request) => new Response(reply(await request.text())),
    );
    return Promise.resolve(server.addr.port);
  },
  connect: connectFetch,
});
