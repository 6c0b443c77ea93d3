/** A module of tasks, for `modules.types.ts`. */
import { f64, importTask, struct, task } from "../../src/mod.ts";

export const add = (a: number, b: number): number => a + b;
export async function load(name: string): Promise<Uint8Array> {
  return new TextEncoder().encode(await name);
}
export const square = task({ f: (n: number) => n * n });
export const listen = task({
  abortSignal: true,
  f: (n: number, signal: AbortSignal) => signal.aborted ? 0 : n,
});
export const Point = struct({ x: f64, y: f64 });
export const mirror = task({ args: [Point], returns: Point, f: ({ x, y }) => ({ x: y, y: x }) });
export const first = async <T>(list: readonly T[]): Promise<T | undefined> => await list[0];

export const limit = 3;
export const settings = { isVerbose: true };
export const remote = importTask<(n: number) => number>({ href: "./x.ts", name: "remote" });
export class Counter {
  value = 0;
}
export interface Unit {
  readonly name: string;
}
// deno-lint-ignore no-explicit-any -- pins that exports without a type are offered
export const untyped: any = add;

export default (text: string): number => text.length;
