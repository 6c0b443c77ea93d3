/** The tasks of `bench:ab`. They import nothing of heddle, so that any build can load them. */
import { spinFor } from "../harness/clock.ts";

export const echo = (value: unknown): unknown => value;
export const add = (a: number, b: number): number => a + b;
/** Computes for `us` microseconds; answers with the time of its end. */
export const spin = (us: number): number => spinFor(us);
