/**
 * The kinds of objects that every pool sends beside plain ones and arrays: bytes, Date, Map, Set, errors and bigints. Encoder and decoder
 * know them by the same tables as those of features. Kinds are determined by internal slots, never by `instanceof`.
 */
import { Date, DOMException, Map, Set } from "../../builtins.ts";
import type { Decoder } from "../decoder.ts";
import { type Encoder, ORDINARY } from "../encoder.ts";
import type { ValueFeature } from "../feature.ts";
import { inherits } from "../support/prototypes.ts";
import {
  ATTACHMENT,
  BIGINT_64,
  BIGINT_HEX,
  BUFFER,
  BYTES,
  DATE,
  ERROR,
  MAP,
  SET,
  SHARED,
  VALUE_HEADER_BYTES,
  VIEW,
} from "../tags.ts";
import { readBuffer, readBytes, readView, writeBuffer, writeView } from "./bytes.ts";
import { readError, writeError } from "./errors.ts";

const ObjectPrototype = Object.prototype;
const { forEach: mapForEach, entries: mapEntries } = Map.prototype;
const { forEach: setForEach, entries: setEntries } = Set.prototype;
const DatePrototype = Date.prototype;
const ArrayBufferPrototype = ArrayBuffer.prototype;
const timeOf: (this: Date) => number = DatePrototype.getTime;

function write(encoder: Encoder, value: unknown, prototype: object | null, at: number): number {
  if (ArrayBuffer.isView(value)) return writeView(encoder, value, at);
  if (prototype === null || prototype === ObjectPrototype || Array.isArray(value)) return -1;
  const object = value as object;
  const { kinds } = encoder.access;
  // The kind that the prototype suggests is checked first, since each check is a native call.
  const mayBeBuffer = prototype === ArrayBufferPrototype;
  if (prototype === DatePrototype && kinds.isDate(object)) {
    return encoder.double(DATE, timeOf.call(object), at);
  }
  if (mayBeBuffer && kinds.isArrayBuffer(object)) return writeBuffer(encoder, object, at);
  if (kinds.isMap(object)) return writeCollection(encoder, MAP, object, at);
  if (kinds.isSet(object)) return writeCollection(encoder, SET, object, at);
  if (kinds.isDate(object)) return encoder.double(DATE, timeOf.call(object), at);
  if (kinds.isNativeError(object) || inherits(kinds, prototype, isDOMException)) {
    return writeError(encoder, object as Error, at);
  }
  if (kinds.isArrayBuffer(object)) return writeBuffer(encoder, object, at);
  return kinds.isSharedArrayBuffer(object) ? encoder.shared(object, at) : -1;
}

const isDOMException = (parent: object): boolean => parent === DOMException.prototype;

type Collection = Map<unknown, unknown> | Set<unknown>;

/**
 * Writes a Map or a Set. Writing a part may run user code that changes the collection, so the entries are copied before they
 * are written, or read one at a time if the runtime's structured clone does so.
 */
function writeCollection(
  encoder: Encoder,
  tag: typeof MAP | typeof SET,
  collection: Collection,
  from: number,
): number {
  const parts = encoder.access.kinds.clonesLive
    ? liveParts(tag, collection)
    : copiedParts(tag, collection);
  let at = encoder.header(tag, 0, from);
  let count = 0;
  for (const part of parts) {
    at = encoder.value(part, at);
    count++;
  }
  encoder.i32[(from >> 2) + 1] = tag === MAP ? count / 2 : count;
  return at;
}

function copiedParts(tag: number, collection: Collection): readonly unknown[] {
  const parts: unknown[] = [];
  if (tag === MAP) {
    mapForEach.call(collection as Map<unknown, unknown>, (value, key) => {
      parts.push(key, value);
    });
  } else setForEach.call(collection as Set<unknown>, (value) => void parts.push(value));
  return parts;
}

function* liveParts(tag: number, collection: Collection): Generator {
  const entries = tag === MAP
    ? mapEntries.call(collection as Map<unknown, unknown>)
    : setEntries.call(collection as Set<unknown>);
  for (let next = entries.next(); next.done !== true; next = entries.next()) {
    if (tag === MAP) yield next.value[0];
    yield next.value[1];
  }
}

function readCollection(decoder: Decoder, at: number, word: number): Collection {
  const isMap = (word & 0xff) === MAP;
  const entries = decoder.count(at, isMap ? 2 * VALUE_HEADER_BYTES : VALUE_HEADER_BYTES);
  const collection = isMap ? new Map<unknown, unknown>() : new Set<unknown>();
  decoder.noted(at, word, collection);
  for (let entry = 0; entry < entries; entry++) {
    const first = decoder.value(decoder.next);
    if (isMap) (collection as Map<unknown, unknown>).set(first, decoder.value(decoder.next));
    else (collection as Set<unknown>).add(first);
  }
  return collection;
}

/** `BigInt` throws for what are no digits. */
function readBigInt(decoder: Decoder): bigint {
  const text = decoder.key(decoder.next);
  return text.startsWith("-") ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
}

function readShared(decoder: Decoder, at: number): SharedArrayBuffer {
  const buffer = decoder.attached(at, VALUE_HEADER_BYTES + 8);
  const id = decoder.f64[(at >> 3) + 1]!;
  if (!decoder.access.kinds.isSharedArrayBuffer(buffer)) throw decoder.corrupt("shared buffer", at);
  return decoder.sharedBuffers.adopt(id, buffer);
}

export const ordinaryValues: ValueFeature = {
  name: ORDINARY,
  writeValue: write,
  valueReaders: {
    [MAP]: readCollection,
    [SET]: readCollection,
    [DATE]: (decoder, at) => new Date(decoder.double(at)),
    [BIGINT_64]: (decoder, at) => {
      decoder.double(at);
      return decoder.memory.i64[(at >> 3) + 1];
    },
    [BIGINT_HEX]: readBigInt,
    [ERROR]: readError,
    [BYTES]: readBytes,
    [BUFFER]: readBuffer,
    [VIEW]: readView,
    [SHARED]: readShared,
    [ATTACHMENT]: (decoder, at) => decoder.attached(at, VALUE_HEADER_BYTES),
  },
};
