/** A clock that only tests move, and a NATS server in memory, which loses what a test tells it to. */
import type { NatsConnection } from "@nats-io/transport-node";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Runtime, Timer } from "../../src/runtimes/runtime.ts";

/** Lets promises settle, however many follow one another. */
const settlePromises = (): Promise<void> =>
  new Promise((resolve) => currentRuntime.macrotask(resolve));

interface Alarm {
  atMs: number;
  readonly everyMs: number | undefined;
  readonly callback: () => void;
}

export class VirtualClock {
  nowMs = 1;
  /** Until when `advance` runs. */
  #endMs = 1;
  readonly #alarms = new Set<Alarm>();

  /** The runtime of this thread, with the times of this clock. */
  readonly runtime: Runtime = Object.create(currentRuntime, {
    now: { value: () => this.nowMs },
    setTimeout: { value: (callback: () => void, ms: number) => this.#set(callback, ms) },
    macrotask: { value: (callback: () => void) => void this.#set(callback, 0) },
    setInterval: { value: (callback: () => void, ms: number) => this.#set(callback, ms, ms) },
  }) as Runtime;

  /** Lets time pass. What is due runs in order, and promises settle after each. */
  async advance(ms: number): Promise<void> {
    this.#endMs = this.nowMs + ms;
    for (;;) {
      await settlePromises();
      const [next] = [...this.#alarms].toSorted((one, other) => one.atMs - other.atMs);
      if (next === undefined || next.atMs > this.#endMs) break;
      this.nowMs = next.atMs;
      if (next.everyMs === undefined) this.#alarms.delete(next);
      else next.atMs += next.everyMs;
      next.callback();
    }
    this.nowMs = this.#endMs;
    await settlePromises();
  }

  /** Time passes in which nothing runs: what was due runs behind it. */
  suspend(ms: number): void {
    this.nowMs += ms;
    this.#endMs += ms;
    for (const alarm of this.#alarms) alarm.atMs = Math.max(alarm.atMs, this.nowMs);
  }

  #set(callback: () => void, ms: number, everyMs?: number): Timer {
    const alarm = { atMs: this.nowMs + ms, everyMs, callback };
    this.#alarms.add(alarm);
    return { ref: () => {}, unref: () => {}, clear: () => void this.#alarms.delete(alarm) };
  }
}

interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reply?: string;
  readonly headers?: { readonly code: number };
}

interface Subscription {
  readonly pattern: string;
  readonly queue: string | undefined;
  readonly client: Client;
  readonly callback: (error: Error | null, message: Message) => void;
}

class Client {
  /** Dead: nothing reaches it any more, and nothing of it is sent. */
  isDead = false;
}

/** Delivers messages a millisecond after they were published. One of a queue group gets each message. */
export class VirtualServer {
  readonly #clock: VirtualClock;
  readonly #subscriptions = new Set<Subscription>();
  #turn = 0;
  /** Messages for which this is true disappear. */
  isLost: (message: Message) => boolean = () => false;
  readonly published: Message[] = [];
  maxPayload: number = 1024 * 1024;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** A connection, and what ends its process. */
  connect(): { readonly connection: NatsConnection; kill(): void } {
    const client = new Client();
    const connection = {
      info: { max_payload: this.maxPayload },
      subscribe: (
        pattern: string,
        { queue, callback }: Pick<Subscription, "callback"> & { readonly queue?: string },
      ) => void this.#subscriptions.add({ pattern, queue, client, callback }),
      publish: (subject: string, data: Uint8Array, options?: { readonly reply?: string }) => {
        if (!client.isDead) this.#publish({ subject, data: data.slice(), ...options });
      },
    };
    return {
      connection: connection as unknown as NatsConnection,
      kill: () => void (client.isDead = true),
    };
  }

  #publish(message: Message): void {
    this.published.push(message);
    if (this.isLost(message)) return;
    this.#clock.runtime.setTimeout(() => this.#deliver(message), 1);
  }

  #deliver(message: Message): void {
    const found = [...this.#subscriptions].filter(({ pattern, client }) =>
      !client.isDead && matches(pattern, message.subject)
    );
    const members = found.filter(({ queue }) => queue !== undefined);
    const chosen = members[this.#turn++ % Math.max(1, members.length)];
    const takers = found.filter((each) => each.queue === undefined || each === chosen);
    for (const { callback } of takers) callback(null, message);
    if (takers.length > 0 || message.reply === undefined) return;
    // The server answers a request that nobody takes.
    const headers = { code: 503 };
    this.#deliver({ subject: message.reply, data: new Uint8Array(), headers });
  }
}

function matches(pattern: string, subject: string): boolean {
  const [parts, tokens] = [pattern.split("."), subject.split(".")];
  return parts.length === tokens.length &&
    parts.every((part, index) => part === "*" || part === tokens[index]);
}
