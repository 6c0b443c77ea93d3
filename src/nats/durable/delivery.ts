/** One delivery of a durable call: what the server says about it, and how it is answered. */
import { TextEncoder } from "../../builtins.ts";
import type { Msg } from "@nats-io/transport-node";
import { isId } from "./durable-call.ts";

/** Calls that were delivered since a queue was opened; over when the queue was created anew, and with it all numbers. */
export interface Epoch {
  isOver: boolean;
}

const PREFIX = "$JS.ACK.";
/** Between the subject of the calls and the id. */
const CALLS_TOKEN = ".=.";
const NANOS_PER_MS = 1_000_000;
/** Longest pause that is asked for: the server reads it as a whole number of nanoseconds, and longer ones are renewed. */
const MAX_PAUSE_MS = 24 * 3_600_000;

const encoder = new TextEncoder();
const ACK = encoder.encode("+ACK");
const WORKING = encoder.encode("+WPI");
const TERM = encoder.encode("+TERM");

export class Delivery {
  readonly data: Uint8Array;
  /** Number of the call in its stream. */
  readonly seq: number;
  /** How often it was delivered, this time included. */
  readonly count: number;
  /** When it was stored, by the clock of the server. */
  readonly storedMs: number;
  /** The id of the call as its subject has it: known without decoding. */
  readonly id: string | undefined;
  /** Names the call among all that the stream has ever had. */
  readonly key: string;
  readonly #msg: Pick<Msg, "respond">;
  readonly #epoch: Epoch;

  private constructor(msg: Msg, tokens: readonly string[], epoch: Epoch) {
    const [, , count, seq, , storedNanos] = tokens;
    this.data = msg.data;
    this.seq = Number(seq);
    this.count = Number(count);
    this.storedMs = Number(storedNanos) / NANOS_PER_MS;
    this.id = idOf(msg);
    this.key = `${seq}.${storedNanos}`;
    this.#msg = msg;
    this.#epoch = epoch;
  }

  /** Undefined if the message is not a delivery. */
  static from(msg: Msg, epoch: Epoch): Delivery | undefined {
    if (msg.reply?.startsWith(PREFIX) !== true) return undefined;
    const tokens = msg.reply.slice(PREFIX.length).split(".");
    // Newer servers put a domain and the hash of an account before the name of the stream.
    return new Delivery(msg, tokens.slice(tokens.length < 9 ? 0 : 2), epoch);
  }

  /** It is done. */
  ack(): void {
    this.#respond(ACK);
  }

  /** It is not to be delivered again, done or not. */
  terminate(): void {
    this.#respond(TERM); // servers before 2.10 ignore one with a reason
  }

  /** This machine still has it. */
  renew(): void {
    this.#respond(WORKING);
  }

  /** It is to be delivered again after a pause. */
  returnAfter(ms: number): void {
    const delay = Math.max(1, Math.ceil(Math.min(ms, MAX_PAUSE_MS))) * NANOS_PER_MS;
    this.#respond(encoder.encode(`-NAK {"delay":${delay}}`));
  }

  #respond(answer: Uint8Array): void {
    if (this.#epoch.isOver) return; // another call has its number now
    try {
      this.#msg.respond(answer);
    } catch {
      // The connection is closed: the server delivers the call again.
    }
  }
}

/** Earlier versions put all calls to one subject, and the id into the header that names a message. */
function idOf({ subject, headers }: Msg): string | undefined {
  const at = subject.indexOf(CALLS_TOKEN);
  const id = at < 0 ? headers?.get("Nats-Msg-Id") : subject.slice(at + CALLS_TOKEN.length);
  return isId(id) ? id : undefined;
}
