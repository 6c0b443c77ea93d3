/** A way to call functions in one worker: what the `latency` scenario compares. */
export interface LatencyCalls {
  echo(value: number): Promise<number>;
  /** Absent where a contender has nothing of the kind. */
  nothing?(): Promise<unknown>;
  asyncNothing?(): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface LatencyContender {
  readonly name: string;
  /** With so many workers; some have only ever one. */
  start(threads: number): Promise<LatencyCalls>;
}
