/**
 * The codec of one side of a pool: the state shared by its encoders, and encoding for uses outside the
 * rings. Independent of the transport.
 */
import { Error } from "../builtins.ts";
import { viewMemory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import { Decoder } from "./decoder.ts";
import { Encoder, type EncoderOptions } from "./encoder.ts";
import { useValues } from "./feature.ts";
import { KeyListRegistry, ReceivedKeyLists } from "./key-lists.ts";
import { isError, writeThrown } from "./kinds/errors.ts";
import { ordinaryValues } from "./kinds/objects.ts";
import { refusal } from "./support/refusal.ts";
import { SharedBuffers } from "./support/shared-buffers.ts";
import { isStackOverflow } from "./support/stack-overflow.ts";

useValues(ordinaryValues);

export interface CodecOptions extends
  Pick<
    EncoderOptions,
    "access" | "maxPayloadBytes" | "allowsBorrow" | "copiesOnly" | "hiddenFolder"
  > {
  /** A unique number for each thread of the pool: 0 is the host. */
  readonly origin: number;
  /** Uses of a key list after which its code is compiled, instead of the default. */
  readonly compiledAfter?: number;
  /** The features that may write values. Undefined: all of this thread. */
  readonly features?: ReadonlySet<string> | undefined;
}

export class Codec {
  readonly access: CodecAccess;
  /** Maximum bytes of one call's arguments, or of one result. */
  readonly maxPayloadBytes: number;
  /** The key lists this side has used; append-only. */
  readonly keyLists: KeyListRegistry;
  readonly #compiledAfter: number | undefined;
  readonly #options: EncoderOptions;
  readonly #idle: Encoder[] = [];

  /** `shared`: the buffers of another codec of this side. Then values are written without key lists. */
  constructor(
    { origin, compiledAfter, ...options }: CodecOptions,
    shared?: SharedBuffers,
  ) {
    const { access, maxPayloadBytes } = options;
    this.access = access;
    this.#compiledAfter = compiledAfter;
    this.keyLists = new KeyListRegistry(compiledAfter);
    this.maxPayloadBytes = maxPayloadBytes;
    this.#options = {
      ...options,
      keyLists: shared === undefined ? this.keyLists : undefined,
      sharedBuffers: shared ?? new SharedBuffers(origin),
    };
  }

  /** Acquires an encoder from the pool: encoding runs user code, which may itself start encoding. */
  acquire(): Encoder {
    return this.#idle.pop() ?? new Encoder(this.#options);
  }

  /** Releases an encoder in any state. */
  release(encoder: Encoder): void {
    encoder.end();
    this.#idle.push(encoder);
  }

  /** A codec whose values any side can read, since they need no key lists. Shared buffers are the same objects for both. */
  standalone(): Codec {
    const { sharedBuffers } = this.#options;
    return new Codec({ ...this.#options, allowsBorrow: false, origin: 0 }, sharedBuffers);
  }

  /** A store for the key lists that another side announces. */
  receivedKeyLists(): ReceivedKeyLists {
    return new ReceivedKeyLists(this.#compiledAfter);
  }

  /** A decoder for values from the other side of a lane, which uses `keyLists`. */
  decoder(keyLists: Pick<ReceivedKeyLists, "get"> | undefined): Decoder {
    return new Decoder(this.access, keyLists, this.#options.sharedBuffers);
  }
}

/** Converts a stack overflow of the encoder to an error for the caller; returns other errors unchanged. */
export function encodingError(error: unknown, name: string): unknown {
  if (isStackOverflow(error)) {
    return refusal(name, "it is nested too deeply for this thread's stack", { cause: error });
  }
  return error;
}

/** Encodes an error for a message, as self-contained bytes. */
export function packError(access: CodecAccess, error: Error): Uint8Array<ArrayBuffer> {
  // Contents that cannot be encoded as bytes are left out.
  return pack(access, error) ?? pack(access, new Error(error.message))!;
}

export function unpackError(access: CodecAccess, bytes: Uint8Array): Error {
  return unpack(access, bytes) as Error;
}

/**
 * Encodes a value of heddle's own for a message, as self-contained bytes. Undefined: it contains something that only
 * a port can carry. Throws DataCloneError.
 */
export function pack(access: CodecAccess, value: unknown): Uint8Array<ArrayBuffer> | undefined {
  const encoder = new Encoder({
    access,
    keyLists: undefined,
    sharedBuffers: new SharedBuffers(0),
    maxPayloadBytes: Infinity,
    allowsBorrow: false,
  });
  const start = encoder.begin();
  const end = isError(value) ? writeThrown(encoder, value, start) : encoder.root(value, start);
  if (encoder.attachments.count > 0) return undefined;
  return new Uint8Array(encoder.u8.subarray(0, end));
}

export function unpack(access: CodecAccess, bytes: Uint8Array): unknown {
  const memory = viewMemory(new SharedArrayBuffer(bytes.length));
  memory.u8.set(bytes);
  return new Decoder(access, undefined, new SharedBuffers(0)).one(memory, 0, bytes.length);
}
