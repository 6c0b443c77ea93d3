/** Channels: values from any number of threads to any number of others. */
import { FinalizationRegistry, Set } from "../../builtins.ts";
import { checkInteger } from "../../option-checks.ts";
import { ChannelClosedError } from "../../shared-errors.ts";
import { printAs } from "../../runtimes/printed.ts";
import { HANDLE, type HandleParts } from "../../realm/handles.ts";
import { BLOCK, checkOptions, checkWait, NO_OPTIONS, WAIT } from "../given.ts";
import { registerHandle, type SharedHandle } from "../handles.ts";
import type { BlockOptions, WaitOptions } from "../locks/options.ts";
import { ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";
import { Uncloneable } from "../uncloneable.ts";
import { valuesOf } from "../values.ts";
import type { Side } from "./ends.ts";
import { CAPACITY, DEATHS, IS_NAMED, RING, RING_BYTES } from "./layout.ts";
import { Operation } from "./operation.ts";
import { NOTHING, Queue } from "./queue.ts";

/** Options of {@link channel}. */
export interface ChannelOptions {
  /** Maximum number of values in it: `send` waits when it is reached. 1 to 2 ** 30. @default 64 */
  readonly capacity?: number;
  /**
   * Bytes of memory for the values in it, 128 to 2 ** 30, rounded up to a power of two. One value takes at most half.
   * @default 1048576
   */
  readonly maxBytes?: number;
}

const THE_VALUE = (): string => "The value";
const SENDING = "Sending to this channel";
const RECEIVING = "Receiving from this channel";

/** Ends that were collected without `close()`: their threads have one less. */
const collected = new FinalizationRegistry<{ queue: Queue; side: Side }>(({ queue, side }) => {
  queue.ends.close(side, undefined);
});

/** The queue of a buffer in this thread, which all its ends here share. */
function queueOf(memory: ObjectMemory): Queue {
  return new Queue(memory, valuesOf(memory.thread.runtime));
}

/** One end. It may be sent to other threads, which then have ends of their own; this one stays as it is. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- as SharedObject
interface End extends SharedHandle {}
abstract class End extends Uncloneable {
  readonly #queue: Queue;
  readonly #side: Side;
  #isOpen = true;
  #reason: unknown;
  readonly #pending = new Set<object>();

  /** `departure`: of the end that another thread has sent. */
  constructor(side: Side, queue: Queue, departure: string) {
    super();
    this.#queue = queue;
    this.#side = side;
    if (departure === "") queue.ends.open(side);
    else queue.ends.arrive(side, departure);
    collected.register(this, { queue, side }, this);
    Object.defineProperty(this, HANDLE, { get: () => this.#send(), enumerable: false });
  }

  protected get queue(): Queue {
    return this.#queue;
  }

  /** The codec asks when it sends the end. */
  #send(): HandleParts {
    this.checkOpen();
    const { name, departure } = this.queue.ends.depart(this.#side, () => this.shut(undefined));
    const { buffer } = this.queue.memory;
    return { kind: `channel:${this.#side}:${name}`, buffer, departure };
  }

  /** Whether this end was closed. */
  get isClosed(): boolean {
    return !this.#isOpen;
  }

  /** Values in the channel. */
  get size(): number {
    return this.queue.size;
  }

  /** How many it holds at most. */
  get capacity(): number {
    return this.queue.capacity;
  }

  static {
    printAs(this.prototype, (end) => {
      if (!(#side in end)) return "an end of a channel";
      const name = end.#side === "sender" ? "Sender" : "Receiver";
      return `${name} (of a channel; ${end.#isOpen ? "open" : "closed"})`;
    });
  }

  protected checkOpen(): void {
    if (!this.#isOpen) throw new ChannelClosedError(`This ${this.#side} was closed.`);
  }

  protected shut(reason: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reason = reason;
    collected.unregister(this);
    this.queue.thread.loop.checkAll(); // receives that wait fail
    this.#closeIfIdle();
  }

  /** An operation of this end: closing it waits for its end. */
  protected begin(operation: object): void {
    this.#pending.add(operation);
  }

  protected finish(operation: object): void {
    this.#pending.delete(operation);
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (this.#isOpen || this.#pending.size > 0) return;
    this.queue.ends.close(this.#side, this.#reason);
  }
}

/** The end of a channel that values go in. Create it by {@link channel}. */
export class Sender<T> extends End {
  /** Puts a value in, once there is room. Fails with ChannelClosedError if no thread receives any more. */
  send(value: T, options: WaitOptions = NO_OPTIONS): Operation<void> {
    this.checkOpen();
    checkWait("send", options, WAIT); // before it takes a turn
    const { queue } = this;
    // Once: its getters run now, and it is sent as it is now.
    const encoded = queue.values.keep(value, THE_VALUE);
    queue.checkSize(encoded);
    const turn = {};
    queue.sends.enter(turn);
    this.begin(turn);
    return new Operation(SENDING, options, (registers) => {
      if (!queue.sends.isNext(turn)) return undefined;
      return queue.send(encoded, registers) ? { value: undefined } : undefined;
    }, () => {
      queue.sends.leave(turn);
      this.finish(turn);
    });
  }

  /** Puts a value in if there is room. */
  trySend(value: T): boolean {
    this.checkOpen();
    const { queue } = this;
    return queue.values.encode(value, THE_VALUE, (encoded) => {
      queue.checkSize(encoded);
      return queue.send(encoded, false);
    });
  }

  /** Blocks until there is room: in workers. */
  sendSync(value: T, options: BlockOptions = NO_OPTIONS): void {
    this.checkOpen();
    const { queue } = this;
    queue.thread.checkMayBlock("sendSync");
    checkWait("sendSync", options, BLOCK);
    queue.values.encode(value, THE_VALUE, (encoded) => {
      queue.checkSize(encoded);
      if (queue.send(encoded, false)) return;
      queue.thread.blockUntil(
        { check: () => queue.send(encoded, true) },
        SENDING,
        options.timeoutMs,
      );
    });
  }

  /** Whether a value would find a receiver. */
  get isReceived(): boolean {
    this.queue.ends.refresh();
    return !this.queue.ends.isOver("receiver");
  }

  /**
   * This thread sends no more by this end, but for what waits to be sent. When the last one is closed, receivers get what is in the channel and then its
   * end: ChannelClosedError with the first `reason` that a sender gave as the cause, if one did.
   */
  close(reason?: unknown): void {
    this.shut(reason);
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.shut(undefined);
  }
}

/** The end of a channel that values come out of: each goes to one receiver. Create it by {@link channel}. */
export class Receiver<T> extends End implements AsyncIterable<T> {
  /** Takes the oldest value. Fails with ChannelClosedError when there are no senders any more and the channel is empty. */
  receive(options: WaitOptions = NO_OPTIONS): Operation<T> {
    this.checkOpen();
    checkWait("receive", options, WAIT);
    const { receives } = this.queue;
    const turn = {};
    receives.enter(turn);
    return new Operation(RECEIVING, options, (registers) => {
      this.checkOpen();
      return receives.isNext(turn) ? this.#take(registers) : undefined;
    }, () => receives.leave(turn));
  }

  /** The oldest value, if there is one. Throws ChannelClosedError at the end. */
  tryReceive(): { readonly value: T } | undefined {
    this.checkOpen();
    return this.#take(false);
  }

  /** Blocks until there is a value: in workers. */
  receiveSync(options: BlockOptions = NO_OPTIONS): T {
    this.checkOpen();
    const { queue } = this;
    queue.thread.checkMayBlock("receiveSync");
    checkWait("receiveSync", options, BLOCK);
    let taken = this.#take(false);
    if (taken !== undefined) return taken.value;
    const check = (): boolean => (taken = this.#take(true)) !== undefined;
    queue.thread.blockUntil({ check }, RECEIVING, options.timeoutMs);
    return taken!.value;
  }

  /** All values until the channel ends. Throws if it was closed for a reason. Leaving the loop closes nothing. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      try {
        const taken = this.tryReceive();
        if (taken === undefined) yield await this.receive();
        else {
          yield taken.value;
          await this.queue.thread.loop.turn();
        }
      } catch (error) {
        if (error instanceof ChannelClosedError && this.#isFinished()) return;
        throw error;
      }
    }
  }

  /** Whether nothing will come any more. */
  get isEnded(): boolean {
    this.queue.ends.refresh();
    return this.queue.isEnded();
  }

  /** This thread receives no more by this end. When the last one is closed, senders fail. */
  close(): void {
    this.shut(undefined);
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.shut(undefined);
  }

  #take(registers: boolean): { readonly value: T } | undefined {
    const { queue } = this;
    const value = queue.receive(registers);
    if (value !== NOTHING) return { value: value as T };
    if (queue.isEnded()) throw queue.ends.error();
    return undefined;
  }

  #isFinished(): boolean {
    return !this.isClosed && this.queue.isEnded() && !this.queue.ends.isFailed;
  }
}

/**
 * A channel: values that go in at the sender come out at the receiver, in order, each once, encoded like the arguments of calls. Both ends may be
 * passed to workers in arguments, and from worker to worker; every thread that gets one has an end of its own to close.
 *
 * A value that a receiver has taken counts as delivered, also if its thread dies before it uses the value.
 *
 * @example
 * ```ts
 * const [sender, receiver] = channel<string>({ capacity: 100 });
 * const produced = pool.call.produce(sender);
 * sender.close(); // the worker has its own
 * for await (const line of receiver) console.log(line);
 * await produced;
 * ```
 */
export function channel<T>(options: ChannelOptions = NO_OPTIONS): [Sender<T>, Receiver<T>] {
  return endsOf<T>(createChannel(options, false));
}

/** Two new ends in this thread. */
export function endsOf<T>(memory: ObjectMemory): [Sender<T>, Receiver<T>] {
  const queue = queueOf(memory);
  return [new Sender<T>("sender", queue, ""), new Receiver<T>("receiver", queue, "")];
}

/** Memory for a channel. One with a name does not end by itself. */
export function createChannel(options: ChannelOptions, isNamed: boolean): ObjectMemory {
  const { capacity, maxBytes } = channelOptions("channel()", options);
  const ring = 2 ** Math.ceil(Math.log2(maxBytes));
  const memory = ObjectMemory.create("channel", RING + ring, thisThread());
  memory.view.i32[CAPACITY] = capacity;
  memory.view.i32[RING_BYTES] = ring;
  memory.view.i32[IS_NAMED] = isNamed ? 1 : 0;
  memory.view.i32[DEATHS] = memory.thread.root.deaths;
  return memory;
}

/** The options with their defaults. Throws InvalidArgumentError. */
export function channelOptions(
  owner: string,
  options: ChannelOptions,
): Required<ChannelOptions> {
  checkOptions(owner, options, ["capacity", "maxBytes"]);
  const { capacity = 64, maxBytes = 2 ** 20 } = options;
  checkInteger("capacity", capacity, 1, 2 ** 30);
  checkInteger("maxBytes", maxBytes, 128, 2 ** 30);
  return { capacity, maxBytes };
}

registerHandle("channel", (memory, detail) => {
  const queue = queueOf(memory);
  const side = detail.slice(0, detail.indexOf(":"));
  const departure = detail.slice(side.length + 1);
  return side === "sender"
    ? new Sender("sender", queue, departure)
    : new Receiver("receiver", queue, departure);
});
