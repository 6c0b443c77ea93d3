/** What every server of the `http` scenario answers. */
import process from "node:process";

export const PATHS = {
  text: "/plaintext",
  json: "/json",
  /** Answers at once, as `heavy` does after it has computed. */
  light: "/light",
  heavy: "/heavy",
  /** Names the thread or process that answers. */
  who: "/who",
  /** Resident memory of the process, in bytes. */
  memory: "/memory",
} as const;

export const TEXT = "Hello, World!";
export const LIGHT = "ok";

/** Encoded for each request, as a program would. */
export const createJson = (): string => JSON.stringify({ hello: "world" });

export const residentBytes = (): string => String(process.memoryUsage().rss);

/** The parts of a server that depend on where it runs. */
export interface Work {
  readonly who: string;
  /** The work of `/heavy`, in this thread or elsewhere. */
  heavy(): number | Promise<number>;
}

/** How a server listens: on a port of its own if it is 0. */
export interface Place {
  readonly port: number;
  /** Several threads listen on the port, and the kernel divides the connections among them. */
  readonly reusePort: boolean;
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export type Listen = (place: Place, work: Work) => Promise<Listening>;

export const HOST = "127.0.0.1";

/** Integer work in which each step depends on the one before. */
export function compute(steps: number): number {
  let state = 1;
  for (let step = 0; step < steps; step++) state = Math.imul(state, 1_664_525) + 1_013_904_223 | 0;
  return state;
}
