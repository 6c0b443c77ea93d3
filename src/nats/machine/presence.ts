/** Tells callers which of their calls a machine has: unasked about calls that take long, and when they ask. */
import { Map } from "../../builtins.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { NO_CALL, tokenLists } from "../options.ts";
import { ACCEPTED, ALIVE, type Header } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import type { Running } from "./running.ts";

/** Calls that have not ended this long after their start are announced to their callers. */
const ANNOUNCE_MS = 20;

export interface PresenceOptions {
  readonly codec: MessageCodec;
  readonly runtime: Pick<Runtime, "setTimeout">;
  /** The id and the name of this machine. */
  readonly sender: number;
  readonly name: string;
  /** By the subject for their answers. */
  readonly running: ReadonlyMap<string, Running>;
  readonly publish: (subject: string, message: Uint8Array) => void;
  /** The caller of this call has asked about it. */
  readonly onAsked: (call: Running) => void;
}

export class Presence {
  readonly #options: PresenceOptions;
  #unannounced: Running[] = [];

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** A call has begun. */
  add(running: Running): void {
    if (this.#unannounced.length === 0) {
      this.#options.runtime.setTimeout(() => this.#announce(), ANNOUNCE_MS);
    }
    this.#unannounced.push(running);
  }

  /** PROBE has arrived. */
  onProbe(header: Header, bytes: Uint8Array): void {
    const { codec, running, onAsked } = this.#options;
    const [inbox, ...tokens] = codec.decode(bytes, header) as string[];
    const present: string[] = [];
    const missing: string[] = [];
    for (const token of tokens) {
      const call = running.get(`${inbox}.${token}`);
      if (call !== undefined) onAsked(call);
      (call === undefined ? missing : present).push(token);
    }
    if (present.length > 0) this.#report(ACCEPTED, String(inbox), present);
    this.#report(ALIVE, String(inbox), missing);
  }

  #announce(): void {
    const byInbox = new Map<string, string[]>();
    for (const call of this.#unannounced) {
      if (this.#options.running.get(call.reply) !== call) continue;
      const end = call.reply.lastIndexOf(".");
      const inbox = call.reply.slice(0, end);
      byInbox.set(inbox, [...byInbox.get(inbox) ?? [], call.reply.slice(end + 1)]);
    }
    this.#unannounced = [];
    for (const [inbox, tokens] of byInbox) this.#report(ACCEPTED, inbox, tokens);
  }

  #report(kind: number, inbox: string, tokens: readonly string[]): void {
    const { codec, name, sender, publish } = this.#options;
    for (const part of tokenLists(tokens)) {
      publish(`${inbox}.${NO_CALL}`, codec.encodeOwn(kind, [name, ...part], { sender }));
    }
  }
}
