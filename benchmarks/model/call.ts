/** One call and the times of its life; what the host knows of a task. */
export const UNSEEN = -1;

export class Call {
  readonly task: number;
  /** How long it runs: the policy does not know this. */
  readonly serviceUs: number;
  readonly arrivedAt: number;
  /** When its record, and later its answer, can be seen on the other side. */
  visibleAt = UNSEEN;
  startedAt = UNSEEN;
  finishedAt = UNSEEN;
  settledAt = UNSEEN;
  /** How often a worker ran it: once, whatever happened. */
  runs = 0;
  /** How often it was taken back from a lane. */
  moves = 0;

  constructor(task: number, serviceUs: number, arrivedAt: number) {
    this.task = task;
    this.serviceUs = serviceUs;
    this.arrivedAt = arrivedAt;
  }
}

/** Moving estimates of service time, one per task. */
export class Estimates {
  readonly #values: (number | undefined)[] = [];
  readonly #factor: number;
  /** Weight of a new observation. */
  readonly #weight = 1 / 8;

  /** `factor` is an error made on purpose, to see what it does. */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  of(task: number): number | undefined {
    return this.#values[task];
  }

  observe(task: number, us: number): void {
    const seen = us * this.#factor;
    const old = this.#values[task];
    this.#values[task] = old === undefined ? seen : old + (seen - old) * this.#weight;
  }
}
