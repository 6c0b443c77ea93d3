/**
 * Waits for the results of durable calls. A result that is there costs one request. For all others of a pool there is one
 * subscription, which names each result that is recorded; it is open while calls wait, so that the number of results that a
 * pool has read leaves nothing on the server.
 */
import { Map, Promise, Set } from "../../builtins.ts";
import { TimeoutError } from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import type { RequestLine } from "./request-line.ts";
import { codedError, isTemporary } from "./store-errors.ts";

/** Where results are recorded. */
export interface ResultStore {
  /** The recorded result of a call; undefined: there is none yet. */
  readonly readResult: (id: string) => Promise<Uint8Array | undefined>;
  /** Names each call whose result is recorded from now on, until the returned function is called. */
  readonly watchResults: (onRecorded: (id: string) => void) => Promise<() => void>;
}

/** The subscription is kept for this time after the last wait: another one may follow. */
const IDLE_MS = 1000;
/** A lost message must not let a wait hang: each waiting call is looked up again after this time. */
const RECHECK_MS = 10_000;
/** Pause before a server is asked again that has not answered. */
const ERROR_PAUSE_MS = 500;

interface Wait {
  readonly resolve: (result: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

export class ResultWaits {
  readonly #runtime: Pick<Runtime, "setTimeout" | "setInterval">;
  readonly #line: Pick<RequestLine, "once">;
  readonly #open: () => Promise<ResultStore>;
  readonly #waits = new Map<string, Set<Wait>>();
  #watch: Promise<() => void> | undefined;
  #recheck: Timer | undefined;
  #isRechecking = false;
  #idle: Timer | undefined;
  #closed: { readonly reason: unknown } | undefined;

  /** `open` is called for each request; it returns the same store. */
  constructor(
    runtime: Pick<Runtime, "setTimeout" | "setInterval">,
    line: Pick<RequestLine, "once">,
    open: () => Promise<ResultStore>,
  ) {
    this.#runtime = runtime;
    this.#line = line;
    this.#open = open;
  }

  /** The result of a call, once it is recorded. Rejects with TimeoutError after `timeoutMs`. */
  async wait(id: string, timeoutMs: number): Promise<Uint8Array> {
    if (this.#closed !== undefined) throw this.#closed.reason;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const wait: Wait = { resolve, reject };
    const timer = timeoutMs === Infinity ? undefined : this.#runtime.setTimeout(
      () => reject(new TimeoutError("call", timeoutMs)),
      timeoutMs,
    );
    this.#add(id, wait);
    this.#find(id, wait).catch(reject);
    try {
      return await promise;
    } finally {
      timer?.clear();
      this.#remove(id, wait);
    }
  }

  /** Ends all waits with `reason`, and further ones. Resolves when the subscription has been asked to end. */
  async close(reason: unknown): Promise<void> {
    this.#closed ??= { reason };
    for (const waits of this.#waits.values()) for (const { reject } of waits) reject(reason);
    await this.#stopWatch();
  }

  /** Looks for a result, then for news of it. While the server does not answer the wait goes on. */
  async #find(id: string, wait: Wait): Promise<void> {
    const isWaiting = (): boolean => this.#waits.get(id)?.has(wait) === true;
    while (isWaiting()) {
      try {
        await this.#check(id);
        if (!isWaiting()) return;
        await this.#startWatch();
        await this.#check(id); // it may have been recorded before the subscription was open
        return;
      } catch (error) {
        if (!isTemporary(error)) {
          throw codedError(`NATS does not tell the result of "${id}"`, error);
        }
        await new Promise<void>((resolve) => this.#runtime.setTimeout(resolve, ERROR_PAUSE_MS));
      }
    }
  }

  async #check(id: string): Promise<void> {
    const store = await this.#open();
    const result = await this.#line.once(() => store.readResult(id));
    if (result === undefined) return;
    const waits = this.#waits.get(id);
    this.#waits.delete(id);
    for (const { resolve } of waits ?? []) resolve(result);
  }

  /** Looks for all results; those of the round before have been looked for. */
  async #recheckAll(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    await Promise.all(Array.from(this.#waits.keys(), (id) => this.#checkLater(id)));
    this.#isRechecking = false;
  }

  async #startWatch(): Promise<void> {
    this.#watch ??= this.#open().then((store) =>
      store.watchResults((id) => {
        if (this.#waits.has(id)) void this.#checkLater(id);
      })
    );
    this.#recheck ??= this.#runtime.setInterval(() => void this.#recheckAll(), RECHECK_MS);
    try {
      await this.#watch;
    } catch (error) {
      void this.#stopWatch();
      throw error;
    }
  }

  /** A server that is away now is asked again. */
  async #checkLater(id: string): Promise<void> {
    if (this.#waits.has(id)) await this.#check(id).catch(() => {});
  }

  async #stopWatch(): Promise<void> {
    const watch = this.#watch;
    this.#recheck?.clear();
    this.#idle?.clear();
    this.#watch = this.#recheck = this.#idle = undefined;
    await watch?.then((stop) => stop(), () => {}); // a failure was told to those who waited
  }

  #add(id: string, wait: Wait): void {
    this.#idle?.clear();
    this.#idle = undefined;
    const waits = this.#waits.get(id);
    if (waits === undefined) this.#waits.set(id, new Set([wait]));
    else waits.add(wait);
  }

  #remove(id: string, wait: Wait): void {
    const waits = this.#waits.get(id);
    waits?.delete(wait);
    if (waits?.size === 0) this.#waits.delete(id);
    if (this.#waits.size > 0 || this.#watch === undefined) return;
    this.#idle ??= this.#runtime.setTimeout(() => void this.#stopWatch(), IDLE_MS);
  }
}
