/** Values in shared memory, encoded by the codec of calls. They stand alone: nothing in them needs a port or what came before. */
import { WeakMap } from "../builtins.ts";
import { pack as packValue, unpack } from "../codec/codec.ts";
import { Decoder } from "../codec/decoder.ts";
import { Encoder } from "../codec/encoder.ts";
import { useValues } from "../codec/feature.ts";
import { rareValues } from "../features/values/rare/rare-values.ts";
import { refusal } from "../codec/support/refusal.ts";
import { SharedBuffers } from "../codec/support/shared-buffers.ts";
import { INT, NUMBER } from "../codec/tags.ts";
import { copyWords, type Memory, viewMemory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";

/** A value that is encoded at the start of `memory`. */
export interface Encoded {
  readonly memory: Memory;
  /** A multiple of 8. */
  readonly bytes: number;
}

const NUMBER_BYTES = 16;

const known = new WeakMap<CodecAccess, Values>();

/** The encoders and the decoder of this thread, which all its objects share. */
export function valuesOf(access: CodecAccess): Values {
  let values = known.get(access);
  if (values === undefined) known.set(access, values = new Values(access));
  return values;
}

export class Values {
  readonly #access: CodecAccess;
  readonly #buffers = new SharedBuffers(0);
  readonly #idle: Encoder[] = [];
  readonly #decoder: Decoder;
  /** Numbers need no encoder, and nothing runs between the writing and the use. */
  readonly #number: Encoded = {
    memory: viewMemory(new SharedArrayBuffer(NUMBER_BYTES)),
    bytes: NUMBER_BYTES,
  };

  constructor(access: CodecAccess) {
    this.#access = access;
    useValues(rareValues); // this entry point has a codec of its own
    this.#decoder = new Decoder(access, undefined, this.#buffers);
  }

  /**
   * Encodes `value`, gives it to `use` and returns its result. Runs the value's getters before `use`. Throws DataCloneError, which begins with
   * what `name` returns, for what cannot be encoded or needs a port.
   */
  encode<Result>(value: unknown, name: () => string, use: (encoded: Encoded) => Result): Result {
    if (typeof value === "number") return use(this.#encodeNumber(value));
    const encoder = this.#idle.pop() ?? this.#createEncoder();
    try {
      return use(this.#encode(encoder, value, name()));
    } finally {
      encoder.end();
      this.#idle.push(encoder);
    }
  }

  #createEncoder(): Encoder {
    return new Encoder({
      access: this.#access,
      keyLists: undefined,
      sharedBuffers: this.#buffers,
      maxPayloadBytes: Infinity,
      allowsBorrow: false,
      mayAttach: false,
    });
  }

  #encode(encoder: Encoder, value: unknown, name: string): Encoded {
    encoder.name = name;
    const bytes = encoder.root(value, encoder.begin());
    if (encoder.attachments.count > 0) {
      throw refusal(
        name,
        "it contains something that travels in messages only (a SharedArrayBuffer, a handle, a port, a key, a file or the like)",
      );
    }
    return { memory: encoder.memory, bytes };
  }

  /**
   * Whether two values are the same as `Object.is` says, or are objects that are encoded alike. Throws DataCloneError, as `encode`. Runs
   * the getters of both.
   */
  equal(one: unknown, other: unknown, name: () => string): boolean {
    const areObjects = typeof one === "object" && typeof other === "object";
    if (!areObjects || one === null || other === null) return Object.is(one, other);
    // By encoders of their own: in memory that was used before, what pads texts differs.
    const first = this.#encode(this.#createEncoder(), one, name());
    const second = this.#encode(this.#createEncoder(), other, name());
    if (first.bytes !== second.bytes) return false;
    for (let word = 0; word < first.bytes >> 2; word++) {
      if (first.memory.i32[word] !== second.memory.i32[word]) return false;
    }
    return true;
  }

  /** The number that is encoded at `at`; undefined: something else is. */
  numberAt(memory: Memory, at: number): number | undefined {
    return memory.i32[at >> 2] === NUMBER ? memory.f64[(at >> 3) + 1]! : undefined;
  }

  /** Makes another number of one that is encoded. */
  setNumber({ memory }: Encoded, value: number): void {
    memory.f64[1] = value;
  }

  #encodeNumber(value: number): Encoded {
    const { i32, f64 } = this.#number.memory;
    i32[0] = NUMBER;
    f64[1] = value;
    return this.#number;
  }

  /** Encodes `value` into memory of its own. */
  keep(value: unknown, name: () => string): Encoded {
    return this.encode(value, name, ({ memory, bytes }) => {
      const own = viewMemory(new SharedArrayBuffer(bytes));
      copyWords(memory, own, 0, bytes);
      return { memory: own, bytes };
    });
  }

  /** Decodes the value in `[at, end)`. Runs no user code. */
  decode(memory: Memory, at: number, end: number): unknown {
    const tag = memory.i32[at >> 2]!;
    if (tag === INT) return memory.i32[(at >> 2) + 1]!;
    if (tag === NUMBER && end === at + NUMBER_BYTES) return memory.f64[(at >> 3) + 1]!;
    return this.#decoder.one(memory, at, end);
  }

  /** Bytes of a value on its own; undefined: it needs a port. */
  pack(value: unknown): Uint8Array<ArrayBuffer> | undefined {
    return packValue(this.#access, value);
  }

  unpack(bytes: Uint8Array): unknown {
    return unpack(this.#access, bytes);
  }
}
