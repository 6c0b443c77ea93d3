/** heddle as published: the built package. */
import { createPool, f64, struct, task, transfer } from "../../dist/mod.js";
import { spinFor } from "../harness/clock.ts";
import type { Route } from "../payloads/payload.ts";
import type { Echo, EchoCalls, EchoContender, PoolContender } from "./types.ts";

export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};
export const echo = (value: number): number => value;
export const spin = (us: number): number => spinFor(us);
export const spinThenEcho = (us: number, value: number): number => {
  spinFor(us);
  return value;
};

export interface HeddleCalls {
  nothing(): Promise<void>;
  asyncNothing(): Promise<void>;
  echo(value: number): Promise<number>;
  spin(us: number): Promise<number>;
  /** Computes for `us` microseconds; answers with `value`. */
  spinThenEcho(us: number, value: number): Promise<number>;
  close(): Promise<void>;
}

/** A pool whose workers are ready, with tasks that do nothing and tasks that compute for a given time. */
export async function startHeddle(threads: number): Promise<HeddleCalls> {
  const pool = createPool({ threads })({ nothing, asyncNothing, echo, spin, spinThenEcho });
  await pool.ready;
  return { ...pool.call, close: () => pool.shutdown() };
}

export const heddle: PoolContender = {
  name: "heddle",
  start: startHeddle as unknown as PoolContender["start"],
};

export const echoValue = (value: unknown): unknown => value;
/** Memory that goes along with a call and comes back with its answer. */
export const echoTransferred = (buffer: ArrayBuffer): ArrayBuffer => transfer(buffer);
export const echoJson = (text: string): string => JSON.stringify(JSON.parse(text));

/** Values of `payloads/objects.ts`, `particle`. */
const Particle = struct({
  x: f64,
  y: f64,
  z: f64,
  velocityX: f64,
  velocityY: f64,
  velocityZ: f64,
  mass: f64,
  charge: f64,
});
export const echoParticle = task({ args: [Particle], returns: Particle, f: (value) => value });

/** A pool of one worker that has one task, and how it is called. */
const STARTS: Readonly<
  Record<Route | "json", () => [{ readonly ready: Promise<void> }, EchoCalls]>
> = {
  copy() {
    const pool = createPool({ threads: 1 })({ echoValue });
    return [pool, { echo: pool.call.echoValue, close: () => pool.shutdown() }];
  },
  move() {
    const pool = createPool({ threads: 1 })({ echoTransferred });
    const echo: Echo = (value) => pool.call.echoTransferred(transfer(value as ArrayBuffer));
    return [pool, { echo, close: () => pool.shutdown() }];
  },
  struct() {
    const pool = createPool({ threads: 1 })({ echoParticle });
    return [pool, {
      echo: pool.call.echoParticle as unknown as Echo,
      close: () => pool.shutdown(),
    }];
  },
  json() {
    const pool = createPool({ threads: 1 })({ echoJson });
    const echo: Echo = async (value) => JSON.parse(await pool.call.echoJson(JSON.stringify(value)));
    return [pool, { echo, close: () => pool.shutdown() }];
  },
};

async function startEcho(route: Route | "json"): Promise<EchoCalls> {
  const [{ ready }, calls] = STARTS[route]();
  await ready;
  return calls;
}

export const heddleEcho: EchoContender = {
  name: "heddle",
  refuses: () => undefined,
  start: startEcho,
};

export const heddleTransfer: EchoContender = {
  name: "heddle, transfer()",
  refuses: ({ route }) => route === "move" ? undefined : "a copy cannot be moved",
  start: startEcho,
};

/** The JSON route: objects travel as text that both sides write and parse. */
export const heddleJson: EchoContender = {
  name: "heddle (JSON text)",
  refuses({ family, route, fitsJson }) {
    if (route !== "copy" || family !== "object") return "the JSON route is for objects";
    return fitsJson ? undefined : "JSON cannot hold it";
  },
  start: () => startEcho("json"),
};
