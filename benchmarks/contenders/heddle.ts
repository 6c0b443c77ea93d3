/** heddle as published: the built package, one worker. */
import { createPool } from "../../dist/mod.js";
import type { LatencyContender } from "./contender.ts";

export const echo = (value: number): number => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};

export const heddle: LatencyContender = {
  name: "heddle",
  async start() {
    const pool = createPool({ threads: 1 })({ echo, nothing, asyncNothing });
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
