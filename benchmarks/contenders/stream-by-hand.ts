/**
 * Streams by hand over `node:worker_threads`: one message for each item, and credit for 512 of at most 1,024 at a time. The
 * receiver counts the messages, or reads a Node `Readable` that is filled by them.
 */
import { Readable } from "node:stream";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { StreamKind } from "../scenarios/streams-cases.ts";
import { itemsOf } from "./stream-items.ts";

const MARK = "heddle-benchmark-streams";
const WINDOW = 1024;

interface Port {
  postMessage(message: unknown): void;
  on(name: "message", listener: (message: unknown) => void): unknown;
}

/** The host asks the worker to send or to receive. */
interface Order {
  readonly sends: boolean;
  readonly kind: StreamKind;
  readonly count: number;
  readonly isReadable: boolean;
}

/** Marks credit; everything else is an item. */
interface Credit {
  readonly credit: number;
}

/** Both ends use the same code; one stream at a time. */
class End {
  readonly #port: Port;
  #onCredit: (credit: number) => void = () => {};
  #onItem: (item: unknown) => void = () => {};

  constructor(port: Port, onOther: (message: unknown, end: End) => void) {
    this.#port = port;
    port.on("message", (message) => {
      const marked = message as Partial<Credit & Order> | undefined;
      if (marked?.credit !== undefined) this.#onCredit(marked.credit);
      else if (marked?.sends !== undefined) onOther(message, this);
      else this.#onItem(message);
    });
  }

  send(kind: StreamKind, count: number): void {
    const items = itemsOf(kind);
    let sent = 0;
    let credit = WINDOW;
    const go = (): void => {
      while (sent < count && credit > 0) {
        credit--;
        this.#port.postMessage(items[sent++ % items.length]);
      }
    };
    this.#onCredit = (more) => {
      credit += more;
      go();
    };
    go();
  }

  receive(count: number, isReadable: boolean): Promise<number> {
    return isReadable ? this.#read(count) : this.#count(count);
  }

  #count(count: number): Promise<number> {
    return new Promise((resolve) => {
      let received = 0;
      this.#onItem = () => {
        received++;
        if (received % (WINDOW / 2) === 0) this.#port.postMessage({ credit: WINDOW / 2 });
        if (received === count) resolve(received);
      };
    });
  }

  async #read(count: number): Promise<number> {
    let arrived = 0;
    const stream = new Readable({ objectMode: true, highWaterMark: WINDOW, read: () => {} });
    this.#onItem = (item) => {
      stream.push(item);
      if (++arrived === count) stream.push(null);
    };
    let received = 0;
    for await (const _ of stream) {
      received++;
      if (received % (WINDOW / 2) === 0) this.#port.postMessage({ credit: WINDOW / 2 });
    }
    return received;
  }
}

export interface StreamsByHand {
  /** Items from the worker, or to it; resolves to how many arrived. */
  run(order: Order): Promise<number>;
  close(): Promise<unknown>;
}

export async function startStreamsByHand(): Promise<StreamsByHand> {
  const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
  let onDone: (count: number) => void = () => {};
  const end = new End(worker, (message) => onDone((message as Order).count));
  await new Promise((resolve) => worker.once("online", resolve));
  return {
    run: (order) => {
      if (order.sends) {
        const received = end.receive(order.count, order.isReadable);
        worker.postMessage(order);
        return received;
      }
      return new Promise((resolve) => {
        onDone = resolve;
        worker.postMessage(order);
        end.send(order.kind, order.count);
      });
    },
    close: () => worker.terminate(),
  };
}

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  const serve = (message: unknown, end: End): void => {
    const { sends, kind, count, isReadable } = message as Order;
    if (sends) end.send(kind, count);
    else {
      void end.receive(count, isReadable).then((received) => {
        port.postMessage({ sends: false, count: received });
      });
    }
  };
  void new End(port, serve);
}
