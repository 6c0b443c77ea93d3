/** heddle as published: a pool with tasks that do nothing, and tasks that compute for a given time. */
import { createPool } from "../../dist/mod.js";
import { spinFor } from "../harness/clock.ts";
import type { SpinCalls, SpinContender } from "./spin-contender.ts";

export const nothing = (): void => {};
export const echo = (value: number): number => value;
export const spin = (us: number): number => spinFor(us);
export const spinThenEcho = (us: number, value: number): number => {
  spinFor(us);
  return value;
};

export interface HeddleCalls extends SpinCalls {
  nothing(): Promise<void>;
  echo(value: number): Promise<number>;
  /** Computes for `us` microseconds; answers with `value`. */
  spinThenEcho(us: number, value: number): Promise<number>;
}

/** A pool whose workers are ready. */
export async function startHeddle(threads: number): Promise<HeddleCalls> {
  const pool = createPool({ threads })({ nothing, echo, spin, spinThenEcho });
  await pool.ready;
  return { ...pool.call, close: () => pool.shutdown() };
}

export const heddleSpin: SpinContender = { name: "heddle", start: startHeddle };
