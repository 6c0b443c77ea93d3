/** Tasks whose values do not fit, or cannot be sent. */
import { appendFileSync } from "node:fs";
import { emit, task } from "../../src/mod-task.ts";

export const echo = <T>(value: T): T => value;
export async function sleep(ms: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return ms;
}
export function emitShared(): number {
  emit(new SharedArrayBuffer(8));
  return 1;
}
export function* throwShared(): Generator<number> {
  yield 1;
  throw { shared: new SharedArrayBuffer(8) };
}
/** Notes each run in the file. */
export function noteLarge(file: string, bytes: number): Uint8Array {
  appendFileSync(file, "run\n");
  return new Uint8Array(bytes);
}
export function failLarge(characters: number): never {
  throw new RangeError("x".repeat(characters));
}
export const large = (bytes: number): Uint8Array => new Uint8Array(bytes);
export function emitLarge(bytes: number): number {
  emit(new Uint8Array(bytes));
  emit("after");
  return 1;
}
export const untilAborted = task({
  abortSignal: true,
  f: async (_: undefined, signal) => {
    while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 2));
  },
});
