/** Starts a server on a free port, by the means of each runtime. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";

type Fetch = (request: Request) => Response | Promise<Response>;

export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

interface Runtimes {
  readonly Deno?: {
    serve(options: object, fetch: Fetch): {
      readonly addr: { readonly port: number };
      shutdown(): Promise<void>;
    };
  };
  readonly Bun?: {
    serve(options: object): { readonly port: number; stop(): Promise<void> };
  };
}

const { Bun, Deno } = globalThis as Runtimes;

export function listen(fetch: Fetch): Promise<Server> {
  if (Deno !== undefined) {
    const server = Deno.serve({ port: 0, onListen: () => {} }, fetch);
    return Promise.resolve({ port: server.addr.port, close: () => server.shutdown() });
  }
  if (Bun !== undefined) {
    const server = Bun.serve({ port: 0, fetch });
    return Promise.resolve({ port: server.port, close: () => server.stop() });
  }
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0 }, ({ port }: AddressInfo) => {
      resolve({
        port,
        close: () => new Promise((closed) => void server.close(() => closed())),
      });
    });
  });
}
