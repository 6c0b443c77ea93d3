/**
 * Light and heavy requests. Closed loop: each connection sends one after the other. Open loop: requests are due at
 * random times (Poisson arrivals) whether or not others have been answered, and latencies start when a request is
 * due, so that a server that stalls cannot slow its own load down (coordinated omission).
 */
import { receiveArrivals } from "../../harness/arrivals.ts";
import { createRandom } from "../../harness/bootstrap.ts";
import { LIGHT, PATHS } from "../routes.ts";
import { Client } from "./client.ts";
import { figuresOf, type LoadFigures } from "./figures.ts";

export interface Mixed {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests before the time that counts. */
  readonly warmUpSeconds: number;
  /** Mean requests per second; a closed loop without it. */
  readonly rate?: number;
}

/** Light requests, and all requests. */
export interface MixedFigures {
  readonly light: LoadFigures;
  readonly heavy: LoadFigures;
  readonly perSecond: number;
}

/** One of so many is heavy: of each group exactly one, so that runs with few requests have the same mixture. */
const GROUP = 10;

interface Times {
  readonly light: number[];
  readonly heavy: number[];
}

/** Sends light and heavy requests, in the same order in every run. */
class Requests {
  readonly #client: Client;
  readonly #random = createRandom(7);
  #sent = 0;
  #heavyPlace = 0;

  constructor(url: string, connections: number) {
    this.#client = new Client(url, connections);
  }

  /** Whether it was a heavy one. */
  async send(): Promise<boolean> {
    const place = this.#sent++ % GROUP;
    if (place === 0) this.#heavyPlace = Math.floor(this.#random() * GROUP);
    const isHeavy = place === this.#heavyPlace;
    if (isHeavy) await this.#client.check(PATHS.heavy);
    else await this.#client.check(PATHS.light, LIGHT);
    return isHeavy;
  }

  close(): void {
    this.#client.close();
  }
}

async function closedLoop(
  requests: Requests,
  { connections, seconds, warmUpSeconds }: Mixed,
): Promise<{ times: Times; seconds: number }> {
  const times: Times = { light: [], heavy: [] };
  const countedFrom = performance.now() + warmUpSeconds * 1000;
  const end = countedFrom + seconds * 1000;
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      const isHeavy = await requests.send();
      const endedAt = performance.now();
      // Counted by when they end: each connection has one under way at either border.
      if (endedAt < countedFrom || endedAt >= end) continue;
      (isHeavy ? times.heavy : times.light).push(endedAt - at);
    }
  }));
  return { times, seconds };
}

/** Another process says when requests are due. */
async function openLoop(
  requests: Requests,
  { seconds, warmUpSeconds }: Mixed,
  rate: number,
): Promise<{ times: Times; seconds: number }> {
  const sent: Promise<{ isHeavy: boolean; dueAt: number; from: number; to: number }>[] = [];
  const send = async (dueAt: number) => {
    const from = performance.now();
    const isHeavy = await requests.send();
    return { isHeavy, dueAt, from, to: performance.now() };
  };
  const count = Math.ceil(rate * (seconds + warmUpSeconds));
  await receiveArrivals(
    { gapUs: 1e6 / rate, isPoisson: true, count },
    (dueAt) => void sent.push(send(dueAt)),
  );
  const all = await Promise.all(sent);
  // The clocks of the two processes differ: the fastest way from one to the other counts as zero.
  const offset = Math.min(...all.map(({ from, dueAt }) => from - dueAt));
  const first = all[0]!.dueAt + warmUpSeconds * 1000;
  const counted = all.filter(({ dueAt }) => dueAt >= first);
  const latency = (isHeavy: boolean): number[] =>
    counted.filter((each) => each.isHeavy === isHeavy)
      .map(({ dueAt, to }) => to - dueAt - offset);
  const end = Math.max(...counted.map(({ to }) => to));
  return {
    times: { light: latency(false), heavy: latency(true) },
    seconds: (end - offset - first) / 1000,
  };
}

export async function run(options: Mixed): Promise<MixedFigures> {
  const { url, connections, rate } = options;
  const requests = new Requests(url, connections);
  const { times, seconds } = rate === undefined
    ? await closedLoop(requests, options)
    : await openLoop(requests, options, rate);
  requests.close();
  const light = figuresOf(times.light, seconds);
  const heavy = figuresOf(times.heavy, seconds);
  return { light, heavy, perSecond: light.perSecond + heavy.perSecond };
}
