/** Fastify, with its defaults. */
import { fastify } from "fastify";
import type { AddressInfo } from "node:net";
import { HOST, type Listening, PATHS, TEXT } from "../routes.ts";

export async function listenFastify(): Promise<Listening> {
  const app = fastify();
  app.get(PATHS.text, (_, reply) => reply.type("text/plain").send(TEXT));
  // It encodes what a handler returns.
  app.get(PATHS.json, () => ({ hello: "world" }));
  await app.listen({ port: 0, host: HOST });
  return {
    port: (app.server.address() as AddressInfo).port,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
