/** `Deno.serve`. */
import { HOST, type Listen } from "../routes.ts";
import { answer } from "./fetch-routes.ts";

declare const Deno: {
  serve(
    options: {
      readonly port: number;
      readonly hostname: string;
      readonly reusePort: boolean;
      readonly signal: AbortSignal;
      readonly onListen: () => void;
    },
    handler: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; readonly finished: Promise<void> };
  upgradeWebSocket(request: Request): { readonly socket: WebSocket; readonly response: Response };
};

export const listen: Listen = (place, work) => {
  const ending = new AbortController();
  const options = { ...place, hostname: HOST, signal: ending.signal, onListen: () => {} };
  const server = Deno.serve(options, (request) => {
    if (request.headers.get("upgrade") !== "websocket") return answer(request, work);
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onmessage = ({ data }) => socket.send(work.reply?.(data as string) ?? data as string);
    return response;
  });
  return Promise.resolve({
    port: server.addr.port,
    close: async () => {
      // `shutdown()` would wait for open websockets.
      ending.abort();
      await server.finished;
    },
  });
};
