/**
 * Holding values: what a call's arguments or a task's result become when they cannot go straight
 * into a ring (no room at the moment, too large for it, or no encoding).
 *
 * Held values are a snapshot: later changes by their owner are not seen, and user code (getters) runs
 * here, once. They can be sent any number of times, to any lane.
 */
import { align8Large } from "../memory/align.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { Codec } from "../codec/codec.ts";
import { describeError, type ErrorTable, isError, rebuildError, textOf } from "../codec/fault.ts";
import { DataCloneError } from "../errors.ts";
import type { ByteAccess } from "../runtimes/runtime.ts";
import { CLONED, INLINE, SHARED } from "./frame.ts";

/**
 * Structured clones of values, and what structured clone would change: errors and Node Buffers among
 * them, each with the positions it stands at.
 */
export interface ClonedValues {
  readonly values: readonly unknown[];
  readonly errors: readonly (readonly [positions: readonly number[], table: ErrorTable])[];
  readonly buffers: readonly (readonly [positions: readonly number[], bytes: ArrayBuffer])[];
}

/** A SharedArrayBuffer whose first `bytes` bytes are encoded values. */
export interface SharedValues {
  readonly buffer: SharedArrayBuffer;
  readonly bytes: number;
}

/** Values ready to be sent, by location. */
export type Held =
  | { readonly location: typeof INLINE; readonly count: number; readonly bytes: Uint8Array }
  | { readonly location: typeof SHARED; readonly count: number; readonly payload: SharedValues }
  | { readonly location: typeof CLONED; readonly count: number; readonly payload: unknown };

/** Name of a task's result in the path of what cannot be cloned; arguments are `args`. */
export const RESULT_NAME = "result";

/** Beyond this many bytes offsets leave the int32 range: such values go as structured clones. */
const MAX_ENCODED_BYTES = 2 ** 30;

export class Holder {
  readonly #codec: Codec;
  readonly #maxInlineBytes: number;
  #scratch: Memory = viewMemory(new SharedArrayBuffer(4096));

  /** `maxInlineBytes`: most bytes of encoded values that a ring record may carry. */
  constructor(codec: Codec, maxInlineBytes: number) {
    this.#codec = codec;
    this.#maxInlineBytes = maxInlineBytes;
  }

  /**
   * Throws DataCloneError for what cannot be cloned, or whatever a getter throws. `name` is what the
   * values are called in the path that such an error names.
   */
  hold(values: readonly unknown[], name = "args"): Held {
    const bound = this.#bound(values);
    if (bound < 0 || bound > MAX_ENCODED_BYTES || this.#codec.hasSharedBuffers(values)) {
      return {
        location: CLONED,
        count: values.length,
        payload: cloneValues(this.#codec.bytes, values, name),
      };
    }
    if (bound <= this.#maxInlineBytes) {
      const scratch = this.#scratchOf(bound);
      const end = this.#encode(scratch, bound, values);
      // Detached buffers and the like, which only encoding notices.
      if (end < 0) {
        return {
          location: CLONED,
          count: values.length,
          payload: cloneValues(this.#codec.bytes, values, name),
        };
      }
      return { location: INLINE, count: values.length, bytes: scratch.u8.slice(0, end) };
    }
    const buffer = new SharedArrayBuffer(align8Large(bound));
    const bytes = this.#encode(viewMemory(buffer), buffer.byteLength, values);
    if (bytes < 0) {
      return {
        location: CLONED,
        count: values.length,
        payload: cloneValues(this.#codec.bytes, values, name),
      };
    }
    return { location: SHARED, count: values.length, payload: { buffer, bytes } };
  }

  /** The held values themselves, as a receiver would get them. */
  values(held: Held): unknown[] {
    switch (held.location) {
      case INLINE: {
        const scratch = this.#scratchOf(held.bytes.length);
        scratch.u8.set(held.bytes);
        return this.#codec.decodeAll(scratch, 0, held.bytes.length, held.count);
      }
      case SHARED:
        return decodeShared(this.#codec, held.payload, held.count);
      case CLONED:
        return unpackCloned(this.#codec.bytes, structuredClone(held.payload as ClonedValues));
    }
  }

  #bound(values: readonly unknown[]): number {
    let sum = 0;
    for (const value of values) {
      const bound = this.#codec.bound(value);
      if (bound < 0) return bound;
      sum += bound;
    }
    return sum;
  }

  #encode(memory: Memory, limit: number, values: readonly unknown[]): number {
    let offset = 0;
    for (const value of values) {
      offset = this.#codec.encode(memory, offset, limit, value);
      if (offset < 0) return offset;
    }
    return offset;
  }

  #scratchOf(bytes: number): Memory {
    if (this.#scratch.u8.length < bytes) {
      this.#scratch = viewMemory(
        new SharedArrayBuffer(2 ** Math.ceil(Math.log2(Math.max(8, bytes)))),
      );
    }
    return this.#scratch;
  }
}

/** See `ClonedValues`. Throws DataCloneError or a getter's error. */
function cloneValues(
  access: ByteAccess,
  values: readonly unknown[],
  name: string,
): ClonedValues {
  const special = new Map<unknown, number[]>();
  const plain = values.map((value, position) => {
    if (!isError(value) && !isBuffer(access, value)) return value;
    const positions = special.get(value);
    if (positions === undefined) special.set(value, [position]);
    else positions.push(position);
    return undefined;
  });
  const errors: [number[], ErrorTable][] = [];
  const buffers: [number[], ArrayBuffer][] = [];
  for (const [value, positions] of special) {
    if (isError(value)) errors.push([positions, describeError(value)]);
    else buffers.push([positions, new Uint8Array(value as Uint8Array).slice().buffer]);
  }
  try {
    // In the very shape that will be posted: runtimes limit how deep a message may be nested.
    const [, payload] = structuredClone([0, { values: plain, errors, buffers }] as const);
    return payload;
  } catch (error) {
    if (!isDataCloneError(error)) throw error;
    const path = pathOfUncloneable(plain, name) ?? name;
    throw new DataCloneError(`${path} cannot be cloned: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function isBuffer(access: ByteAccess, value: unknown): boolean {
  return ArrayBuffer.isView(value) && access.isBuffer(value);
}

/** How many parts the search for an uncloneable one looks at. */
const MAX_PARTS_SEARCHED = 10_000;

/** Where the part is that cannot be cloned (`args[0].user.onClick`), nearest to the top first. */
function pathOfUncloneable(values: readonly unknown[], name: string): string | undefined {
  const isResult = name === RESULT_NAME;
  const queue: [path: string, value: unknown][] = values.map((value, index) => [
    isResult ? name : `${name}[${index}]`,
    value,
  ]);
  const seen = new Set<unknown>();
  for (let next = 0; next < queue.length && next < MAX_PARTS_SEARCHED; next++) {
    const [path, value] = queue[next]!;
    if (typeof value === "function" || typeof value === "symbol") return path;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    const parts = partsOf(value);
    if (parts.length === 0 && !isCloneable(value)) return path;
    for (const [step, part] of parts) queue.push([path + step, part]);
  }
  return undefined;
}

/** Children of an object, each with how one gets there. */
function partsOf(value: object): readonly (readonly [string, unknown])[] {
  try {
    if (value instanceof Map) {
      return [...value].map(([key, part]) => [`.get(${textOf(key)})`, part]);
    }
    return Object.entries(value).map(([key, part]) => [
      Array.isArray(value) ? `[${key}]` : `.${key}`,
      part,
    ]);
  } catch {
    return []; // a getter that throws the second time, or a proxy
  }
}

function isDataCloneError(error: unknown): boolean {
  return error instanceof DOMException && error.name === "DataCloneError";
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false; // the question asked
  }
}

/** The values of a received message of location SHARED. */
export function decodeShared(codec: Codec, shared: SharedValues, count: number): unknown[] {
  return codec.decodeAll(viewMemory(shared.buffer), 0, shared.bytes, count);
}

/** The values of a received message of location CLONED. */
export function unpackCloned(access: ByteAccess, cloned: ClonedValues): unknown[] {
  const values = [...cloned.values];
  for (const [positions, table] of cloned.errors) {
    const error = rebuildError(table);
    for (const position of positions) values[position] = error;
  }
  for (const [positions, bytes] of cloned.buffers) {
    const buffer = access.toBuffer(bytes);
    for (const position of positions) values[position] = buffer;
  }
  return values;
}
