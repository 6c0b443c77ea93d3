/** heddle as published: the built package. */
import { createPool } from "../../dist/mod.js";
import type { LatencyContender } from "./contender.ts";

export const echo = (value: number): number => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};

export const heddle: LatencyContender = {
  name: "heddle",
  async start(threads) {
    const pool = createPool({ threads })({ echo, nothing, asyncNothing });
    await pool.ready;
    const { call } = pool;
    return {
      echo: call.echo,
      nothing: call.nothing,
      asyncNothing: call.asyncNothing,
      close: () => pool.shutdown(),
    };
  },
};
