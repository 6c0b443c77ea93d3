/**
 * Messages larger than the server accepts, in chunks. The receiver grants a window of chunks and extends it as they
 * arrive, so that neither a server nor a client buffers more. Sizes are checked before memory is reserved.
 */
import { Map, Promise } from "../../builtins.ts";
import { ProtocolError, WorkerLostError } from "../../errors.ts";
import { lossOf } from "../loss.ts";
import { bareMessage, CHUNK, GRANT, HEADER_BYTES, writeHeader } from "./frames.ts";

/** Bytes of a chunk, if the server's limit allows. */
const CHUNK_BYTES: number = 256 * 1024;
/** Chunks that may be on their way at a time. */
const WINDOW = 8;
/** Transfers that receive at a time from all senders, and their bytes as a multiple of the largest payload. */
const MAX_TRANSFERS = 256;
const MAX_PAYLOADS = 4;

/** Transfers that may wait for room. */
const MAX_WAITING = 100_000;

/** A transfer that has not moved for this time is given up. */
export const STALLED_MS = 60_000;
/** Bytes of a message besides the payload that `maxPayloadBytes` limits. */
export const MAX_OVERHEAD_BYTES: number = 2 * 1024 * 1024;

/** Index of an empty chunk: no chunk follows. */
const ALL_CHUNKS = 0xffffffff;

export function chunkBytesFor(maxMessageBytes: number): number {
  return Math.max(1024, Math.min(CHUNK_BYTES, maxMessageBytes - HEADER_BYTES));
}

interface Outgoing {
  readonly bytes: Uint8Array;
  readonly chunkBytes: number;
  /** Announces it once more; undefined: that is not done. */
  readonly announce: (() => void) | undefined;
  readonly resolve: (isSent: boolean) => void;
  /** Checks since it was announced, until the receiver has answered. */
  unanswered: number;
  next: number;
  movedAt: number;
}

/** Messages that are being sent, by key. */
export class OutgoingTransfers {
  readonly #transfers = new Map<string, Outgoing>();
  #nextId = 1;

  get isEmpty(): boolean {
    return this.#transfers.size === 0;
  }

  /** A number for a new transfer. */
  nextId(): number {
    this.#nextId = this.#nextId % 0xffffffff + 1;
    return this.#nextId;
  }

  /** Resolves with true when all chunks were sent, with false when the transfer was given up. */
  start(
    key: string,
    bytes: Uint8Array,
    chunkBytes: number,
    now: number,
    announce?: () => void,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const transfer = { bytes, chunkBytes, announce, resolve, unanswered: 0, next: 0 };
      this.#transfers.set(key, { ...transfer, movedAt: now });
    });
  }

  /**
   * The receiver takes `granted` chunks in all. It repeats this while none arrives: the answer is an empty chunk, whose index
   * counts those that were sent. It comes behind them.
   */
  grant(
    key: string,
    id: number,
    granted: number,
    sender: number,
    now: number,
    send: (chunk: Uint8Array) => void,
  ): void {
    const transfer = this.#transfers.get(key);
    const sent = transfer === undefined ? ALL_CHUNKS : transfer.next;
    if (granted > 0 && granted <= sent) {
      send(bareMessage(CHUNK, { sender, count: id, word: sent }));
    }
    if (transfer === undefined) return;
    const { bytes, chunkBytes } = transfer;
    const chunks = Math.ceil(bytes.length / chunkBytes);
    transfer.unanswered = -Infinity;
    transfer.movedAt = now;
    while (transfer.next < Math.min(granted, chunks)) {
      const index = transfer.next++;
      const part = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
      const chunk = new Uint8Array(HEADER_BYTES + part.length);
      writeHeader(chunk, CHUNK, { sender, count: id, word: index });
      chunk.set(part, HEADER_BYTES);
      send(chunk);
    }
    if (transfer.next >= chunks) this.#end(key, transfer, true);
  }

  /** Gives up the transfers whose key begins with `prefix`. */
  dropAll(prefix: string): void {
    for (const [key, transfer] of this.#transfers) {
      if (key.startsWith(prefix)) this.#end(key, transfer, false);
    }
  }

  /** Gives up transfers that have not moved since `before`. Announces again those that the receiver may not know. */
  dropStalled(before: number): void {
    for (const [key, transfer] of this.#transfers) {
      if (transfer.movedAt < before) this.#end(key, transfer, false);
      else if (transfer.unanswered++ > 0) transfer.announce?.();
    }
  }

  #end(key: string, transfer: Outgoing, isSent: boolean): void {
    this.#transfers.delete(key);
    transfer.resolve(isSent);
  }
}

interface Incoming {
  readonly bytes: Uint8Array;
  readonly grant: (chunks: number) => void;
  next: number;
  filled: number;
  granted: number;
  movedAt: number;
  /** `next` at the last check. */
  checked: number;
}

interface Waiting {
  readonly total: number;
  readonly grant: (chunks: number) => void;
}

/** Messages that arrive in chunks, by key. */
export class IncomingTransfers {
  readonly #maxBytes: number;
  readonly #transfers = new Map<string, Incoming>();
  readonly #waiting = new Map<string, Waiting>();
  #reserved = 0;
  /** The latest time that was given. */
  #now = 0;

  /** `maxBytes`: maximum of one message. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#transfers.size === 0 && this.#waiting.size === 0;
  }

  /** False: there is no room now. Throws ProtocolError if the message is too large. `waits`: it gets room later. */
  begin(
    key: string,
    total: number,
    now: number,
    grant: (chunks: number) => void,
    waits = false,
  ): boolean {
    this.#now = now;
    if (!Number.isInteger(total) || total < HEADER_BYTES || total > this.#maxBytes) {
      throw new ProtocolError(
        `A message of ${total} bytes was announced; the limit is ${this.#maxBytes} (maxPayloadBytes).`,
      );
    }
    if (this.#transfers.has(key) || this.#waiting.has(key)) return true; // it was announced again
    if (this.#waiting.size === 0 && this.#hasRoom(total)) this.#start(key, { total, grant });
    else if (waits && this.#waiting.size < MAX_WAITING) this.#waiting.set(key, { total, grant });
    else return false;
    return true;
  }

  #hasRoom(total: number): boolean {
    const isFull = this.#reserved > 0 && this.#reserved + total > MAX_PAYLOADS * this.#maxBytes;
    return !isFull && this.#transfers.size < MAX_TRANSFERS;
  }

  #start(key: string, { total, grant }: Waiting): void {
    this.#reserved += total;
    this.#transfers.set(key, {
      bytes: new Uint8Array(total),
      grant,
      next: 0,
      filled: 0,
      granted: WINDOW,
      movedAt: this.#now,
      checked: -1,
    });
    grant(WINDOW);
  }

  /** The whole message with its last chunk. Throws WorkerLostError if one before it was lost, or ProtocolError. */
  chunk(key: string, index: number, message: Uint8Array, now: number): Uint8Array | undefined {
    const transfer = this.#transfers.get(key);
    this.#now = now;
    if (transfer === undefined) return undefined; // it was given up
    const part = message.subarray(HEADER_BYTES);
    const { next } = transfer;
    if (index > next) {
      this.drop(key);
      throw new WorkerLostError(lossOf(undefined, "a part of a large message was lost on the way"));
    }
    if (part.length === 0) return undefined; // none was lost
    if (index < next || transfer.filled + part.length > transfer.bytes.length) {
      this.drop(key);
      throw new ProtocolError(`Chunk ${index} arrived in the place of ${next}, or is too large.`);
    }
    transfer.bytes.set(part, transfer.filled);
    transfer.filled += part.length;
    transfer.next++;
    transfer.movedAt = now;
    if (transfer.filled === transfer.bytes.length) {
      this.drop(key);
      return transfer.bytes;
    }
    if (transfer.granted - transfer.next <= WINDOW / 2) {
      transfer.granted = transfer.next + WINDOW;
      transfer.grant(transfer.granted);
    }
    return undefined;
  }

  drop(key: string): void {
    this.#waiting.delete(key);
    const transfer = this.#transfers.get(key);
    if (transfer !== undefined) {
      this.#transfers.delete(key);
      this.#reserved -= transfer.bytes.length;
    }
    for (const [next, waiting] of this.#waiting) {
      if (!this.#hasRoom(waiting.total)) return;
      this.#waiting.delete(next);
      this.#start(next, waiting);
    }
  }

  dropAll(prefix: string): void {
    for (const key of this.#waiting.keys()) if (key.startsWith(prefix)) this.#waiting.delete(key);
    for (const key of this.#transfers.keys()) if (key.startsWith(prefix)) this.drop(key);
  }

  /**
   * Drops transfers that have not moved since `before`, and returns their keys. Asks the senders of those where no chunk arrives.
   * Those that wait tell their senders.
   */
  dropStalled(before: number): string[] {
    for (const { grant } of this.#waiting.values()) grant(0);
    const stalled: string[] = [];
    for (const [key, transfer] of this.#transfers) {
      if (transfer.movedAt < before) stalled.push(key);
      else if (transfer.checked === transfer.next) transfer.grant(transfer.granted);
      transfer.checked = transfer.next;
    }
    for (const key of stalled) this.drop(key);
    return stalled;
  }
}

/** The key of a transfer of a call. No subject contains a space. */
export function transferKey(call: string, id: number): string {
  return `${call} ${id}`;
}

export function grantMessage(sender: number, id: number, chunks: number): Uint8Array {
  return bareMessage(GRANT, { sender, count: id, word: chunks });
}
