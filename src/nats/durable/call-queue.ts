/**
 * Takes calls from the work queue of a subject. One request at a time asks for as many calls as there is room for, so a
 * machine has no calls that another one could run.
 */
import { Error, JSON, Promise } from "../../builtins.ts";
import { createInbox, type Msg, type NatsConnection } from "@nats-io/transport-node";
import type { Runtime } from "../../runtimes/runtime.ts";
import { Delivery, type Epoch } from "./delivery.ts";

/** Time for which the server keeps a request, and further time for its answer. */
const PULL_MS = 5000;
const ANSWER_MS = 2000;
const NANOS = 1_000_000;
/** Statuses that end a request: nothing for it, or its time is over. */
const ENDED: readonly number[] = [404, 408];
const HEARTBEAT = 100;

export interface CallQueueOptions {
  readonly runtime: Pick<Runtime, "setTimeout">;
  readonly connection: NatsConnection;
  /** Subject of requests for calls. */
  readonly subject: string;
  readonly onCall: (delivery: Delivery) => void;
}

interface Pull {
  readonly inbox: string;
  readonly resolve: (isFilled: boolean) => void;
  readonly reject: (reason: unknown) => void;
  /** Calls that may still come. */
  left: number;
}

export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #inbox: string;
  readonly #subscription: ReturnType<NatsConnection["subscribe"]>;
  #pull: Pull | undefined;
  #pulls = 0;
  #epoch: Epoch = { isOver: false };
  #isConnected = true;

  constructor(options: CallQueueOptions) {
    this.#options = options;
    const { connection } = options;
    const { inboxPrefix } = (connection as { readonly options?: { readonly inboxPrefix?: string } })
      .options ?? {};
    this.#inbox = createInbox(inboxPrefix);
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, msg) => this.#receive(error, msg),
    });
    void this.#watch();
  }

  /** The queue has been created anew: deliveries from before are answered no more. */
  beginEpoch(): void {
    this.#epoch.isOver = true;
    this.#epoch = { isOver: false };
  }

  /**
   * Asks for calls. Resolves with true when so many have come, with false if there are no more for some seconds. Rejects if the
   * queue is away; calls may come even then.
   */
  async pull(batch: number): Promise<boolean> {
    const { connection, subject, runtime } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const inbox = `${this.#inbox}.${++this.#pulls}`;
    this.#pull = { inbox, resolve, reject, left: batch };
    const timer = runtime.setTimeout(
      () => reject(new Error("The work queue has not answered.")),
      PULL_MS + ANSWER_MS,
    );
    try {
      connection.publish(subject, JSON.stringify({ batch, expires: PULL_MS * NANOS }), {
        reply: inbox,
      });
      return await promise;
    } finally {
      timer.clear();
      this.#pull = undefined;
    }
  }

  /** Takes no more calls. Resolves when those that were on their way have come. */
  async drain(): Promise<void> {
    this.#pull?.resolve(true);
    if (!this.#isConnected) this.#subscription.unsubscribe();
    else await this.#subscription.drain().catch(() => {}); // the connection is closed
  }

  #receive(error: Error | null, msg: Msg): void {
    if (error !== null) {
      this.#pull?.reject(error);
      return;
    }
    const delivery = Delivery.from(msg, this.#epoch);
    const pull = this.#pull;
    if (delivery !== undefined) {
      if (pull !== undefined && --pull.left === 0) pull.resolve(true);
      this.#options.onCall(delivery);
    } else if (pull?.inbox === msg.subject) {
      const { code = 0, description = "" } = msg.headers ?? {};
      if (ENDED.includes(code)) pull.resolve(false);
      else if (code !== HEARTBEAT) {
        pull.reject(new Error(`The work queue refuses: ${code} ${description}`));
      }
    }
  }

  /** A request is lost with its connection. Ends with the connection. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#options.connection.status()) {
      if (type === "disconnect") this.#isConnected = false;
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      this.#pull?.reject(new Error("The connection was lost."));
    }
  }
}
