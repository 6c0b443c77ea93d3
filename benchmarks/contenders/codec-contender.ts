/** A way to write a value down and read it back in one thread: what the `codec` scenario compares. */
import type { PayloadKind } from "../payloads/payload.ts";

export interface Codec {
  encode(value: unknown): void;
  /** Reads what the last `encode` wrote. */
  decode(): unknown;
}

export interface CodecContender {
  readonly name: string;
  /** Why it leaves out this kind, or undefined. */
  refuses(kind: PayloadKind): string | undefined;
  create(kind: PayloadKind): Codec;
}
