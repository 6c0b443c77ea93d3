/**
 * Messages as JSON text to a server in a worker thread, over loopback. The server reads each message and
 * writes it anew, as a worker's task gets a value and returns one. It is that of `http`, by the means of the runtime.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { listen } from "../http/servers/listen.ts";
import type { Echo, EchoContender } from "./types.ts";

const MARK = "heddle-benchmark-loopback";

export interface Client {
  /** Sends a text and resolves with the answer's. */
  send(text: string): Promise<string>;
  close(): unknown;
}

if (!isMainThread && workerData === MARK) {
  const reply = (text: string): string => JSON.stringify(JSON.parse(text));
  const work = { who: "loopback", heavy: () => 0, reply };
  const { port } = await listen({ port: 0, reusePort: false }, work);
  parentPort!.postMessage(port);
}

export const createLoopback = (
  name: string,
  connect: (port: number) => Promise<Client>,
): EchoContender => ({
  name,
  refuses: ({ fitsJson }) => fitsJson ? undefined : `${name} carries JSON text here`,
  async start() {
    const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
    const port = await new Promise<number>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    const client = await connect(port);
    const echo: Echo = async (value) => JSON.parse(await client.send(JSON.stringify(value)));
    return {
      echo,
      close: async () => {
        client.close();
        await worker.terminate();
      },
    };
  },
});

/** Messages by `post` and their answers, which come in the same order. */
export function inOrder(
  post: (text: string) => void,
): { readonly send: Client["send"]; readonly settle: (answer: string) => void } {
  // Started over when all is answered: shifting an array would cost more than the message.
  const waiting: ((answer: string) => void)[] = [];
  let next = 0;
  return {
    send: (text) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        post(text);
      }),
    settle(answer) {
      waiting[next++]!(answer);
      if (next === waiting.length) next = waiting.length = 0;
    },
  };
}
