/** A number of GETs over a few connections that stay open, each of which sends one after the other. */
import { Client } from "./client.ts";
import { figuresOf, type LoadFigures } from "./figures.ts";

export interface Gets {
  readonly url: string;
  readonly connections: number;
  readonly count: number;
  readonly body: string;
}

export async function run({ url, connections, count, body }: Gets): Promise<LoadFigures> {
  const client = new Client(url, connections);
  const { pathname } = new URL(url);
  const latencies: number[] = [];
  let sent = 0;
  const sendAll = async (): Promise<void> => {
    while (sent < count) {
      sent++;
      const from = performance.now();
      await client.check(pathname, body);
      latencies.push(performance.now() - from);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, sendAll));
  const seconds = (performance.now() - startedAt) / 1000;
  client.close();
  return figuresOf(latencies, seconds);
}
