/**
 * Messages about calls, of any size and in order. Those above the server's limit leave in chunks, and those behind them
 * wait. docs/internals/nats.md explains the protocol.
 */
import { ProtocolError } from "../../errors.ts";
import { bareMessage, BEGIN, CHUNK, GRANT, type Header } from "./frames.ts";
import {
  chunkBytesFor,
  grantMessage,
  IncomingTransfers,
  MAX_OVERHEAD_BYTES,
  OutgoingTransfers,
  STALLED_MS,
  transferKey,
} from "./transfers.ts";

export interface LargeMessagesOptions {
  /** Of one call's arguments, one result or one item. */
  readonly maxPayloadBytes: number;
  /** Maximum bytes of a message that the server accepts. */
  readonly maxMessageBytes: () => number;
  /** The id of this machine; 0 for a caller. */
  readonly sender: number;
  readonly now: () => number;
}

/** Sends one message about a call. */
type Post = (message: Uint8Array) => void;

/** Calls are named by keys without spaces. */
export class LargeMessages {
  readonly #options: LargeMessagesOptions;
  readonly #outgoing = new OutgoingTransfers();
  readonly #incoming: IncomingTransfers;

  constructor(options: LargeMessagesOptions) {
    this.#options = options;
    this.#incoming = new IncomingTransfers(options.maxPayloadBytes + MAX_OVERHEAD_BYTES);
  }

  /**
   * Sends a message of a call, in chunks if it must. Resolves when they have left, or were given up; undefined: it has left.
   * `isRequest`: nobody has the call yet, so it must not be announced again: another machine would get it.
   */
  send(
    call: string,
    message: Uint8Array,
    post: Post,
    isRequest = false,
  ): Promise<unknown> | undefined {
    const { maxMessageBytes, sender, now } = this.#options;
    const maxBytes = maxMessageBytes();
    if (message.length <= maxBytes) {
      post(message);
      return undefined;
    }
    const id = this.#outgoing.nextId();
    const chunkBytes = chunkBytesFor(maxBytes);
    const announce = (): void =>
      post(bareMessage(BEGIN, { sender, count: id, number: message.length }));
    const again = isRequest ? undefined : announce;
    const sent = this.#outgoing.start(transferKey(call, id), message, chunkBytes, now(), again);
    announce();
    return sent;
  }

  /** A large message of this call was announced. False: there is no room. `waits`: it gets room later. Throws ProtocolError. */
  begin(call: string, { count: id, number: total }: Header, post: Post, waits: boolean): boolean {
    const { sender, now } = this.#options;
    const grant = (chunks: number): void => post(grantMessage(sender, id, chunks));
    return this.#incoming.begin(transferKey(call, id), total, now(), grant, waits);
  }

  /**
   * A message about a large message has arrived. Returns the whole one with its last chunk. Throws WorkerLostError if a chunk was
   * lost, or ProtocolError.
   */
  receive(call: string, header: Header, bytes: Uint8Array, post: Post): Uint8Array | undefined {
    const { count: id, kind, word } = header;
    const { sender, now } = this.#options;
    const key = transferKey(call, id);
    if (kind === CHUNK) return this.#incoming.chunk(key, word, bytes, now());
    if (kind === GRANT) this.#outgoing.grant(key, id, word, sender, now(), post);
    else if (!this.begin(call, header, post, true)) {
      throw new ProtocolError("Too many large messages wait.");
    }
    return undefined;
  }

  /** Forgets the messages of this call. */
  drop(call: string): void {
    // Most calls have none, and this is done for every one.
    if (!this.#outgoing.isEmpty) this.#outgoing.dropAll(`${call} `);
    if (!this.#incoming.isEmpty) this.#incoming.dropAll(`${call} `);
  }

  /**
   * To be called now and then: asks about messages that do not move. Drops those that have not moved for long, and returns the
   * calls of those that were arriving.
   */
  dropStalled(): string[] {
    const before = this.#options.now() - STALLED_MS;
    this.#outgoing.dropStalled(before);
    return this.#incoming.dropStalled(before).map((key) => key.slice(0, key.lastIndexOf(" ")));
  }
}

/** Whether `receive` takes messages of this kind. */
export function isAboutLarge(kind: number): boolean {
  return kind === BEGIN || kind === GRANT || kind === CHUNK;
}

/** Messages of one sender in order: what follows a message in chunks waits until it has left. */
export class MessageQueue {
  readonly #sendNow: (message: Uint8Array) => Promise<unknown> | undefined;
  #sending: Promise<void> | undefined;

  /** `sendNow` returns undefined when the message has left. */
  constructor(sendNow: (message: Uint8Array) => Promise<unknown> | undefined) {
    this.#sendNow = sendNow;
  }

  /** Resolves when the message has left; undefined: it has. */
  send(message: Uint8Array): Promise<void> | undefined {
    const sending = this.#sending;
    const sent = sending === undefined
      ? this.#sendNow(message)
      : sending.then(() => this.#sendNow(message));
    if (sent === undefined) return undefined;
    const whole = sent.then(() => {
      if (this.#sending === whole) this.#sending = undefined;
    });
    return this.#sending = whole;
  }
}
