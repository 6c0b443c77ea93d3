/**
 * The requests of one pool about durable calls: at most so many at a time as a server answers soon, since the time limit of a
 * request runs from when it is sent. Further ones wait in line.
 */
import { Promise, Set } from "../../builtins.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { isTemporary } from "./store-errors.ts";

const MAX_REQUESTS = 256;
/** Pause before a request is repeated: doubled each time. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

export class RequestLine {
  readonly #runtime: Pick<Runtime, "now" | "setTimeout">;
  readonly #waitMs: number;
  readonly #waiting = new Set<() => void>();
  #sent = 0;
  /** When the server has answered last, and the last failure to do so. */
  #answeredAt = -Infinity;
  #failure: unknown;
  #closed: { readonly reason: unknown } | undefined;

  /** `waitMs`: how long requests are repeated that the server does not answer. */
  constructor(runtime: Pick<Runtime, "now" | "setTimeout">, waitMs: number) {
    this.#runtime = runtime;
    this.#waitMs = waitMs;
  }

  /** Further requests reject with `reason`, as do those that wait or are repeated. */
  close(reason: unknown): void {
    this.#closed ??= { reason };
  }

  /** Sends a request when it is its turn, once. */
  async once<Result>(request: () => Promise<Result>): Promise<Result> {
    if (this.#sent >= MAX_REQUESTS) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    } else this.#sent++;
    try {
      if (this.#closed !== undefined) throw this.#closed.reason;
      const result = await request();
      this.#answeredAt = this.#runtime.now();
      this.#failure = undefined;
      return result;
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#sent--;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }

  /**
   * Repeats a request until the server answers. Rejects with an error that `describe` makes of the answer, or of the failure if
   * there is none for `waitMs`.
   */
  async run<Result>(
    request: () => Promise<Result>,
    describe: (reason: unknown) => unknown,
  ): Promise<Result> {
    const madeAt = this.#runtime.now();
    const isLate = (): boolean =>
      this.#runtime.now() - Math.max(madeAt, this.#answeredAt) >= this.#waitMs;
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      try {
        // Those in line when a server goes away do not wait for each other's failures.
        return await this.once(() =>
          this.#failure !== undefined && isLate() ? Promise.reject(this.#failure) : request()
        );
      } catch (error) {
        if (this.#closed !== undefined) throw this.#closed.reason;
        if (!isTemporary(error)) throw describe(error);
        this.#failure = error;
        if (isLate()) throw describe(error);
      }
      await new Promise<void>((resolve) => this.#runtime.setTimeout(resolve, pauseMs));
    }
  }
}
