/** The package has types for this module, and does not export them. */
declare module "comlink/dist/esm/node-adapter.mjs" {
  import type { Endpoint } from "comlink";
  import type { MessagePort, Worker } from "node:worker_threads";

  export default function nodeEndpoint(end: Worker | MessagePort): Endpoint;
}
