/** Tasks of the kernel's suite. They import nothing of heddle. */
import { setTimeout as later } from "node:timers/promises";

let calls = 0;

export const add = (a: number, b: number): number => a + b;
export const count = (...values: unknown[]): number => values.length;
export const echo = (value: unknown): unknown => value;
export const both = (...values: unknown[]): unknown[] => values;
export const nothing = (): void => {};
export const lengthOf = (value: Uint8Array | string): number => value.length;
export const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);

export async function sleep(ms: number, value: unknown): Promise<unknown> {
  await later(ms);
  return value;
}

export function busy(ms: number): number {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ++calls;
}

export function fail(kind: string): never {
  if (kind === "range") throw new RangeError("out of range", { cause: { kind } });
  throw Object.assign(new Error("refused"), { code: "E_REFUSED" });
}

export async function failLater(): Promise<never> {
  await later(1);
  throw new TypeError("too late");
}

export const uncloneable = (): unknown => ({ f: () => 1 });

export function exit(code: number): never {
  // deno-lint-ignore no-process-global -- a task of any runtime
  process.exit(code);
}

/** Runs until the host has stored 1. */
export function hold(words: Int32Array): number {
  while (Atomics.load(words, 0) === 0) Atomics.wait(words, 0, 0, 5);
  return words[1]!;
}

export const timesCalled = (): number => ++calls;
