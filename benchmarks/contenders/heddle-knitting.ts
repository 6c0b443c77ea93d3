/** heddle/knitting as published: what the adapter costs over heddle. */
import { createPool } from "../../dist/knitting.js";
import type { LatencyContender } from "./contender.ts";
import type { EchoContender } from "./echo-contender.ts";

const HEDDLE_KNITTING = "heddle/knitting";

export const echo = (value: number): number => value;
export const echoValue = (value: unknown): unknown => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};

export const heddleKnitting: LatencyContender = {
  name: HEDDLE_KNITTING,
  async start(threads) {
    const { call, shutdown } = createPool({ threads })({ echo, nothing, asyncNothing });
    // It has no `ready`: as many calls at once as there are workers, and more.
    await Promise.all(Array.from({ length: threads * 4 }, () => call.nothing()));
    return { ...call, close: () => shutdown() };
  },
};

export const heddleKnittingEcho: EchoContender = {
  name: HEDDLE_KNITTING,
  refuses: ({ route }) =>
    route === "copy" ? undefined : "heddle/knitting is compared by copies only",
  async start() {
    const { call, shutdown } = createPool({ threads: 1 })({ echoValue });
    await call.echoValue(0);
    return { echo: call.echoValue, close: () => shutdown() };
  },
};
