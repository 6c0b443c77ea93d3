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
  /** Processor time of the process so far, in microseconds. */
  cpu: "/cpu",
} as const;

export const TEXT = "Hello, World!";
export const LIGHT = "ok";

/** Encoded for each request, as a program would. */
export const createJson = (): string => JSON.stringify({ hello: "world" });

export const residentBytes = (): string => String(process.memoryUsage().rss);

export function usedCpuUs(): string {
  const { user, system } = process.cpuUsage();
  return String(user + system);
}

/** The parts of a server that depend on where it runs. */
export interface Work {
  readonly who: string;
  /** The work of `/heavy`, in this thread or elsewhere. */
  heavy(): number | Promise<number | string>;
  /** What comes back for a POST and for a message over a websocket, which is echoed otherwise. */
  readonly reply?: (text: string) => string;
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

const STEPS_PER_CALL = 1000;

/** Integer work in which each step depends on the one before. */
function advance(state: number): number {
  let next = state;
  for (let step = 0; step < STEPS_PER_CALL; step++) next = Math.imul(next, 1_664_525) ^ step;
  return next;
}

/**
 * The work of a heavy request. It consists of many short calls: V8 loses the optimized code of a function that is one
 * long loop (on-stack replacement) from time to time, and then takes six times as long.
 */
export function compute(steps: number): number {
  let state = 1;
  for (let done = 0; done < steps; done += STEPS_PER_CALL) state = advance(state);
  return state;
}
