/** Websockets, each of which sends a message, waits for its echo, and sends the next one. */
import { WebSocket } from "ws";
import { figuresOf, type LoadFigures } from "./figures.ts";

export interface Websockets {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Connections that open at once: a server accepts a limited number that wait. */
const OPENING_AT_ONCE = 50;

function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Echoes until `end`; the times between message and echo go to `latencies`. */
function echo(
  socket: WebSocket,
  number: number,
  end: number,
  latencies: number[],
): Promise<void> {
  let count = 0;
  let text = "";
  let from = 0;
  const send = (): void => {
    text = `connection ${number}, message ${count++}`;
    from = performance.now();
    socket.send(text);
  };
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`connection ${number} was closed`)));
    socket.on("message", (data) => {
      const at = performance.now();
      if (String(data) !== text) reject(new Error(`sent "${text}", got "${String(data)}"`));
      latencies.push(at - from);
      if (at < end) send();
      else resolve();
    });
    send();
  });
}

export async function run({ url, connections, seconds }: Websockets): Promise<LoadFigures> {
  const sockets: WebSocket[] = [];
  while (sockets.length < connections) {
    const length = Math.min(OPENING_AT_ONCE, connections - sockets.length);
    sockets.push(...await Promise.all(Array.from({ length }, () => open(url))));
  }
  const latencies: number[] = [];
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  await Promise.all(sockets.map((socket, number) => echo(socket, number, end, latencies)));
  const elapsed = (performance.now() - startedAt) / 1000;
  for (const socket of sockets) socket.terminate();
  return figuresOf(latencies, elapsed);
}
