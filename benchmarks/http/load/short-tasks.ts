/** Requests that each run a short task: connections that stay open send one after the other, for some seconds. */
import { PATHS, TEXT } from "../routes.ts";
import { hash } from "../servers/hash.ts";
import { Client } from "./client.ts";
import { figuresOf, type LoadFigures } from "./figures.ts";

export interface ShortTasks {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests before the time that counts. */
  readonly warmUpSeconds: number;
}

export async function run(options: ShortTasks): Promise<LoadFigures> {
  const { url, connections, seconds, warmUpSeconds } = options;
  const client = new Client(url, connections);
  const expected = hash(TEXT);
  /** Latencies of so many seconds. */
  const sendFor = async (seconds: number): Promise<number[]> => {
    const latencies: number[] = [];
    const end = performance.now() + seconds * 1000;
    await Promise.all(Array.from({ length: connections }, async () => {
      for (let from = performance.now(); from < end;) {
        await client.check(PATHS.heavy, expected);
        const now = performance.now();
        latencies.push(now - from);
        from = now;
      }
    }));
    return latencies;
  };
  const usedUs = async (): Promise<number> => Number((await client.get(PATHS.cpu)).body);
  await sendFor(warmUpSeconds);
  const cpuBefore = await usedUs();
  const startedAt = performance.now();
  const latencies = await sendFor(seconds);
  const took = (performance.now() - startedAt) / 1000;
  const cpuUs = (await usedUs() - cpuBefore) / latencies.length;
  client.close();
  return { ...figuresOf(latencies, took), cpuUs };
}
