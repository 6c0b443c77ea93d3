/** `Bun.serve`. */
import { HOST, type Listen } from "../routes.ts";
import { answer } from "./fetch-routes.ts";

interface BunServer {
  readonly port: number;
  upgrade(request: Request): boolean;
  stop(isAbrupt: boolean): Promise<void>;
}
declare const Bun: {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly reusePort: boolean;
    fetch(request: Request, server: BunServer): Response | Promise<Response> | undefined;
    readonly websocket: {
      message(socket: { send(text: string): void }, text: string): void;
    };
  }): BunServer;
};

export const listen: Listen = (place, work) => {
  const server = Bun.serve({
    ...place,
    hostname: HOST,
    fetch: (request, own) => {
      if (request.headers.get("upgrade") !== "websocket") return answer(request, work);
      own.upgrade(request);
      return undefined;
    },
    websocket: { message: (socket, text) => socket.send(work.reply?.(text) ?? text) },
  });
  return Promise.resolve({ port: server.port, close: () => server.stop(true) });
};
