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
import { describeError, type ErrorTable, isError, rebuildError } from "../codec/fault.ts";
import { DataCloneError } from "../errors.ts";
import { CLONED, INLINE, SHARED } from "./frame.ts";

/** Structured clones of values. Errors among them are in `errors`, by position. */
export interface ClonedValues {
  readonly values: readonly unknown[];
  readonly errors: readonly (readonly [index: number, table: ErrorTable])[];
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
      return { location: CLONED, count: values.length, payload: cloneValues(values, name) };
    }
    if (bound <= this.#maxInlineBytes) {
      const scratch = this.#scratchOf(bound);
      const end = this.#encode(scratch, bound, values);
      // Detached buffers and the like, which only encoding notices.
      if (end < 0) {
        return { location: CLONED, count: values.length, payload: cloneValues(values, name) };
      }
      return { location: INLINE, count: values.length, bytes: scratch.u8.slice(0, end) };
    }
    const buffer = new SharedArrayBuffer(align8Large(bound));
    const bytes = this.#encode(viewMemory(buffer), buffer.byteLength, values);
    if (bytes < 0) {
      return { location: CLONED, count: values.length, payload: cloneValues(values, name) };
    }
    return { location: SHARED, count: values.length, payload: { buffer, bytes } };
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
      this.#scratch = viewMemory(new SharedArrayBuffer(2 ** Math.ceil(Math.log2(bytes))));
    }
    return this.#scratch;
  }
}

/** Structured clones of `values`, errors as tables. Throws DataCloneError or a getter's error. */
function cloneValues(values: readonly unknown[], name: string): ClonedValues {
  const errors: [number, ErrorTable][] = [];
  const plain = values.map((value, index) => {
    if (!isError(value)) return value;
    errors.push([index, describeError(value)]);
    return undefined;
  });
  try {
    return { values: structuredClone(plain), errors };
  } catch (error) {
    if (!isDataCloneError(error)) throw error;
    const path = pathOfUncloneable(plain, name) ?? name;
    throw new DataCloneError(`${path} cannot be cloned: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** How deep the search for an uncloneable part goes; deeper, the path of its ancestor is told. */
const MAX_PATH_DEPTH = 20;

/** Where in `value` the part is that cannot be cloned (`args[0].user.onClick`), or undefined. */
function pathOfUncloneable(value: unknown, path: string, depth = 0): string | undefined {
  if (isCloneable(value)) return undefined;
  if (typeof value !== "object" || value === null || depth === MAX_PATH_DEPTH) return path;
  for (const [step, part] of partsOf(value)) {
    const found = pathOfUncloneable(part, path + step, depth + 1);
    if (found !== undefined) return found;
  }
  return path;
}

/** Children of an object, each with how one gets there. */
function partsOf(value: object): readonly (readonly [string, unknown])[] {
  try {
    if (value instanceof Map) {
      return [...value].map(([key, part]) => [`.get(${String(key)})`, part]);
    }
    return Object.entries(value).map(([key, part]) => [
      Array.isArray(value) ? `[${key}]` : `.${key}`,
      part,
    ]);
  } catch {
    return []; // a getter that throws the second time; the clone has failed for another reason
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
  const memory = viewMemory(shared.buffer);
  const values: unknown[] = [];
  let offset = 0;
  for (let index = 0; index < count; index++) {
    values.push(codec.decode(memory, offset, shared.bytes));
    offset = codec.next;
  }
  return values;
}

/** The values of a received message of location CLONED. */
export function unpackCloned(cloned: ClonedValues): unknown[] {
  const values = [...cloned.values];
  for (const [index, table] of cloned.errors) values[index] = rebuildError(table);
  return values;
}
