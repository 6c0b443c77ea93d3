/** @heddle/knitting as published: what the adapter costs over heddle. */
import { createPool } from "@heddle/knitting";
import { copiesOnly, type EchoContender, type LatencyContender } from "./types.ts";

const name = "@heddle/knitting";

export const echo = (value: unknown): unknown => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};

export const heddleKnitting: LatencyContender = {
  name,
  async start(threads) {
    const { call, shutdown } = createPool({ threads })({ echo, nothing, asyncNothing });
    // It has no `ready`: as many calls at once as there are workers, and more.
    await Promise.all(Array.from({ length: threads * 4 }, () => call.nothing()));
    return { ...call, close: () => shutdown() };
  },
};

export const heddleKnittingEcho: EchoContender = {
  name,
  refuses: copiesOnly(name),
  start: () => heddleKnitting.start(1),
};
