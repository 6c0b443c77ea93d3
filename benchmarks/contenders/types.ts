/** What scenarios compare: ways to call functions in workers, and ways to write a value down. */
import type { PayloadKind, Route } from "../payloads/payload.ts";

export type Echo = (value: unknown) => Promise<unknown>;

export interface EchoCalls {
  readonly echo: Echo;
  close(): Promise<unknown>;
}

/** Any value to one worker and back. */
export interface EchoContender {
  readonly name: string;
  /** Why it leaves out this kind, or undefined. */
  refuses(kind: PayloadKind): string | undefined;
  /** Starts a worker for payloads that travel by this route. */
  start(route: Route): Promise<EchoCalls>;
}

export interface LatencyCalls extends EchoCalls {
  /** Absent where a contender has nothing of the kind. */
  nothing?(): Promise<unknown>;
  asyncNothing?(): Promise<unknown>;
}

export interface LatencyContender {
  readonly name: string;
  /** With so many workers; some have only ever one. */
  start(threads: number): Promise<LatencyCalls>;
}

export interface SpinCalls {
  /** Computes for `us` microseconds; answers with the time of its end, by `harness/clock.ts`. */
  spin(us: number): Promise<number>;
  close(): Promise<unknown>;
}

export interface SpinContender {
  readonly name: string;
  start(threads: number): Promise<SpinCalls>;
}

/** For both. */
export interface PoolContender {
  readonly name: string;
  start(threads: number): Promise<LatencyCalls & SpinCalls>;
}

export interface PrimeWorkers {
  count(start: number, end: number): Promise<number>;
  close(): Promise<unknown>;
}

/** One function in one worker, as a program meets it when it starts. */
export interface OneWorkerContender {
  readonly name: string;
  /** Imports what a program imports. What it returns creates the worker, and does not wait for it: calls may be made at once. */
  load(): Promise<() => EchoCalls>;
}

export interface Codec {
  encode(value: unknown): void;
  /** Reads what the last `encode` wrote. */
  decode(): unknown;
}

export interface CodecContender {
  readonly name: string;
  refuses(kind: PayloadKind): string | undefined;
  create(kind: PayloadKind): Codec;
}

interface Refusing {
  refuses(kind: PayloadKind): string | undefined;
}

/** A contender less the kinds that it gets wrong on one runtime, with the reasons by name. */
export const lacking = <C extends Refusing>(
  contender: C,
  reasons: Readonly<Record<string, string>>,
): C => ({
  ...contender,
  refuses: (kind: PayloadKind) => reasons[kind.name] ?? contender.refuses(kind),
});

/** Why a contender that has copies only leaves out other routes. */
export const copiesOnly = (name: string) => ({ route }: PayloadKind): string | undefined =>
  route === "copy" ? undefined : `${name} is compared by copies only`;
