/** The mixed load of `http`: all its servers in one process, so that the heavy requests cost each of them the same. */
import { stepsFor } from "../http/calibrate.ts";
import type { LoadFigures } from "../http/load/figures.ts";
import type { Mixed, MixedFigures } from "../http/load/mixed.ts";
import { runLoad } from "../http/load/run-load.ts";
import { serverCommand, withServer } from "../http/server-process.ts";
import { OFFLOADING, ONE_THREAD } from "../http/servers/kinds.ts";
import * as http from "./http-cases.ts";
import { figuresFor, type Found } from "./http-figures.ts";
import { scaleOf } from "./http-scale.ts";

/** Processor time of a heavy request. */
const HEAVY_MS = 20;

interface Server {
  readonly contender: string;
  readonly command: readonly string[];
}

const serversFor = (steps: number, isQuick: boolean): Server[] => [
  { contender: http.ON_MAIN, command: serverCommand(ONE_THREAD, { steps }) },
  ...http.OFFLOADED.slice(0, isQuick ? 1 : undefined).map((threads) => ({
    contender: http.offloadedTo(threads),
    command: serverCommand(OFFLOADING, { steps, threads }),
  })),
];

/** Figures of light, heavy and all requests. A failed run is one gap. */
async function measureLoop(
  loop: string,
  place: { readonly contender: string; readonly size: number },
  take: () => Promise<MixedFigures>,
): Promise<{ found: Found[]; perSecond: number }> {
  let figures: MixedFigures;
  try {
    figures = await take();
  } catch (error) {
    const fail = (): Promise<LoadFigures> => Promise.reject(error);
    return { found: await figuresFor(place, http.mixedLoad(loop, http.ALL), fail), perSecond: NaN };
  }
  const { light, heavy, perSecond } = figures;
  const parts = [[http.ALL, { perSecond }], [http.LIGHT, light], [http.HEAVY, heavy]] as const;
  const found = await Promise.all(
    parts.map(([name, part]) =>
      figuresFor(place, http.mixedLoad(loop, name), () => Promise.resolve(part))
    ),
  );
  return { found: found.flat(), perSecond };
}

export async function measureMixed(isQuick: boolean): Promise<Found[]> {
  const { closedLoop, openLoop } = scaleOf(isQuick);
  const servers = serversFor(stepsFor(HEAVY_MS), isQuick);
  const load = (command: Server["command"], options: Omit<Mixed, "url">) =>
    withServer(command, (url) => runLoad<MixedFigures>("mixed", { ...options, url }));
  const all: Found[] = [];
  let saturation = NaN;
  for (const { contender, command } of servers) {
    const place = { contender, size: closedLoop.connections };
    const { found, perSecond } = await measureLoop(
      http.CLOSED,
      place,
      () => load(command, closedLoop),
    );
    if (contender === http.ON_MAIN) saturation = perSecond;
    all.push(...found);
  }
  for (const { contender, command } of isQuick ? servers.slice(1) : servers) {
    const place = { contender, size: http.OPEN_LOOP_PERCENT };
    const { found } = await measureLoop(http.OPEN, place, () => {
      if (Number.isNaN(saturation)) throw new Error("the closed loop found no rate");
      return load(command, { ...openLoop, rate: saturation * http.OPEN_LOOP_PERCENT / 100 });
    });
    all.push(...found);
  }
  return all;
}
