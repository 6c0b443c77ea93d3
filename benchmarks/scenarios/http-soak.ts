/**
 * `http-soak`: a server that computes in a heddle pool, under steady load for as many minutes as the command line
 * says. Minute by minute: requests per second, the latency of light requests, and the memory of the server.
 */
import { stepsFor } from "../http/calibrate.ts";
import { Client } from "../http/load/client.ts";
import type { Mixed, MixedFigures } from "../http/load/mixed.ts";
import { runLoad } from "../http/load/run-load.ts";
import { PATHS } from "../http/routes.ts";
import { serverCommand, withServer } from "../http/server-process.ts";
import { OFFLOADING } from "../http/servers/kinds.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { SOAK_LIGHT, SOAK_MEMORY, SOAK_RATE } from "./http-cases.ts";

const SECONDS_PER_MINUTE = 60;
const BYTES_PER_MIB = 2 ** 20;
/** Processor time of a heavy request: short, so that there are many. */
const HEAVY_MS = 1;
const CONNECTIONS = 16;
/** Each part of a minute is loaded by a process of its own. */
const PART_SECONDS = 10;
const MEMORY_INTERVAL_MS = 1000;

/** Takes the memory every second until `load` is done. */
async function watchMemory(url: string, load: Promise<unknown>): Promise<number[]> {
  const client = new Client(url, 1);
  const samples: number[] = [];
  let isLoaded = true;
  const done = load.finally(() => isLoaded = false);
  while (isLoaded) {
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, MEMORY_INTERVAL_MS))]);
    const { body } = await client.get(PATHS.memory);
    samples.push(Number(body) / BYTES_PER_MIB);
  }
  client.close();
  return samples;
}

/** Figures of one minute, or of the part of it that is left. */
async function soakFor(url: string, minute: number, seconds: number): Promise<RoundSamples[]> {
  const parts: MixedFigures[] = [];
  const loadAll = async (): Promise<void> => {
    for (let left = seconds; left > 0; left -= PART_SECONDS) {
      const options: Mixed = {
        url,
        connections: CONNECTIONS,
        seconds: Math.min(left, PART_SECONDS),
        warmUpSeconds: 0,
      };
      parts.push(await runLoad<MixedFigures>("mixed", options));
    }
  };
  const memory = await watchMemory(url, loadAll());
  const rates = parts.map(({ perSecond }) => perSecond);
  const tails = parts.map(({ light }) => light.p99Ms);
  process.stderr.write(
    `minute ${minute}: ${rates.map(Math.round)} requests/s, ` +
      `${Math.round(memory.at(-1)!)} MiB\n`,
  );
  return [
    { case: SOAK_RATE, size: minute, unit: "requests/s", samples: rates },
    { case: SOAK_LIGHT, size: minute, unit: "ms", samples: tails },
    { case: SOAK_MEMORY, size: minute, unit: "MiB", samples: memory },
  ];
}

export async function run(): Promise<never> {
  const { minutes } = readArguments();
  const command = serverCommand(OFFLOADING, { steps: stepsFor(HEAVY_MS), threads: 1 });
  const found = await withServer(command, async (url) => {
    const all: RoundSamples[] = [];
    for (let minute = 1; minute <= Math.ceil(minutes); minute++) {
      const seconds = Math.min(1, minutes - minute + 1) * SECONDS_PER_MINUTE;
      all.push(...await soakFor(url, minute, seconds));
    }
    return all;
  });
  return finish(found);
}
