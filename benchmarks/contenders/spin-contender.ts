/** A way to have tasks compute in workers for a given time: what `lateness` and `idle-cost` compare. */
export interface SpinCalls {
  /** Computes for `us` microseconds; answers with the time of its end, by `harness/clock.ts`. */
  spin(us: number): Promise<number>;
  close(): Promise<unknown>;
}

export interface SpinContender {
  readonly name: string;
  start(threads: number): Promise<SpinCalls>;
}
