/**
 * Messages as JSON text to a server in a worker thread, over loopback. The server reads each message and
 * writes it anew, as a worker's task gets a value and returns one.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Echo, EchoContender } from "./echo-contender.ts";

/** What a server makes of a message. */
export const reply = (text: string): string => JSON.stringify(JSON.parse(text));

export interface Client {
  /** Sends a text and resolves with the answer's. */
  send(text: string): Promise<string>;
  close(): unknown;
}

export interface LoopbackOptions {
  readonly name: string;
  /** The module that calls `createLoopback`: it is the server's as well. */
  readonly module: string;
  /** In the server's thread: listens on 127.0.0.1; resolves with the port. */
  readonly listen: () => Promise<number>;
  readonly connect: (port: number) => Promise<Client>;
}

/** A contender; in the thread that it starts from the same module, the server. */
export function createLoopback(options: LoopbackOptions): EchoContender {
  const { name, module, listen, connect } = options;
  const mark = `heddle-benchmark-${name}`;
  if (!isMainThread && workerData === mark) {
    void listen().then((port) => parentPort!.postMessage(port));
  }
  return {
    name,
    refuses: ({ fitsJson }) => fitsJson ? undefined : `${name} carries JSON text here`,
    async start() {
      const worker = new Worker(new URL(module), { workerData: mark });
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
  };
}

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

/** A client of the runtime's own `WebSocket`. */
export async function connectWebSocket(port: number): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the websocket does not open"));
  });
  const { send, settle } = inOrder((text) => socket.send(text));
  socket.onmessage = ({ data }) => settle(data as string);
  return { send, close: () => socket.close() };
}

/** A client of the runtime's own `fetch`, which keeps connections alive. */
export function connectFetch(port: number): Promise<Client> {
  const url = `http://127.0.0.1:${port}/`;
  return Promise.resolve({
    send: async (text) => await (await fetch(url, { method: "POST", body: text })).text(),
    close: () => {},
  });
}
