/**
 * Values that ordinary payloads do not have: symbols, regular expressions, boxed primitives, wrappers, handles, instances of
 * classes and objects of the platform.
 *
 * If no language slot distinguishes them (such as Blob and EventTarget), the runtime's own `structuredClone` decides. It is
 * called for platform objects, and for objects without enumerable properties, for which it runs no user code.
 */
import {
  AbortSignal,
  Date,
  Error,
  Map,
  RegExp,
  Set,
  structuredClone,
} from "../../../../builtins.ts";
import { brandOf } from "../../../../codec/support/brands.ts";
import { getterOf } from "../../../../codec/support/intrinsics.ts";
import { isPlatformObject } from "./platform.ts";
import { inherits } from "../../../../codec/support/prototypes.ts";
import { isStructView } from "../../../../codec/support/struct-views.ts";
import type { Decoder } from "../../../../codec/decoder.ts";
import { BOXED, KEYED, REGEXP, SYMBOL, VALUE_HEADER_BYTES } from "../../../../codec/tags.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { isBorrowed } from "../wrapped/borrowed.ts";
import { writeOtherView, writeResizable } from "./other-bytes.ts";
import { writeSparse } from "./sparse.ts";
import { isDOMExceptionPrototype, writeError } from "../../../../codec/kinds/errors.ts";
import { writeHandle } from "../handles.ts";
import { writeText } from "../../../../codec/kinds/text.ts";
import { WRAPPERS, writeWrapper } from "../wrapped/wrapped-values.ts";

const { getOwnPropertyDescriptor, keys: keysOf } = Object;
const ObjectPrototype = Object.prototype;
/** Objects that inherit from these may or may not have the slots of that kind, so each must be checked. */
const SLOTTED: ReadonlySet<object> = new Set([
  Map.prototype,
  Set.prototype,
  Date.prototype,
  RegExp.prototype,
  Error.prototype,
  ArrayBuffer.prototype,
  SharedArrayBuffer.prototype,
  Number.prototype,
  String.prototype,
  Boolean.prototype,
  BigInt.prototype,
  ...WRAPPERS,
]);
const sourceOf = getterOf<string>(RegExp.prototype, "source");
/** Getters of the single flags, since the `flags` getter reads properties that an object may override. */
const flagGetters: readonly (readonly [string, (this: unknown) => boolean])[] = [
  ["d", getterOf(RegExp.prototype, "hasIndices")],
  ["g", getterOf(RegExp.prototype, "global")],
  ["i", getterOf(RegExp.prototype, "ignoreCase")],
  ["m", getterOf(RegExp.prototype, "multiline")],
  ["s", getterOf(RegExp.prototype, "dotAll")],
  ["u", getterOf(RegExp.prototype, "unicode")],
  ["v", getterOf(RegExp.prototype, "unicodeSets")],
  ["y", getterOf(RegExp.prototype, "sticky")],
];

function flagsOf(pattern: RegExp): string {
  let flags = "";
  for (const [flag, isSet] of flagGetters) if (isSet.call(pattern)) flags += flag;
  return flags;
}

/** Writes an object of no ordinary kind, or a symbol; -1 for a function. */
export function writeRare(
  encoder: Encoder,
  value: unknown,
  prototype: object | null,
  at: number,
): number {
  if (typeof value === "symbol") return writeSymbol(encoder, value, at);
  if (ArrayBuffer.isView(value)) return writeOtherView(encoder, value, at);
  if (Array.isArray(value)) return writeSparse(encoder, value, at);
  return typeof value === "function"
    ? -1
    : writeOtherObject(encoder, value as object, prototype, at);
}

function writeOtherObject(
  encoder: Encoder,
  object: object,
  prototype: object | null,
  at: number,
): number {
  if (prototype === ObjectPrototype || prototype === null) {
    return writeByRuntime(encoder, object, at);
  }
  const { kinds } = encoder.access;
  if (kinds.isArrayBuffer(object)) return writeResizable(encoder, object, at);
  if (kinds.isRegExp(object)) {
    const end = encoder.tag(REGEXP, at);
    return encoder.value(flagsOf(object), encoder.value(sourceOf.call(object), end));
  }
  if (kinds.isBoxedPrimitive(object)) return writeBoxed(encoder, object, at);
  const brand = brandOf(object);
  if (brand !== undefined) return writeWrapper(encoder, object, brand, at);
  if (isBorrowed(object)) throw encoder.refuse(object, "it is borrowed, and only for this task");
  if (isStructView(object)) throw encoder.refuse(object, "it is a view: copy what it shows");
  const keys = keysOf(object);
  const handled = keys.length === 0 ? writeHandle(encoder, object, at) : -1;
  if (handled >= 0) return handled;
  if (
    keys.length === 0 || encoder.attachments.isMoving(object) || isPlatformObject(kinds, prototype)
  ) {
    return writeByRuntime(encoder, object, at);
  }
  // Reading a key of a proxy would run its trap.
  if (inherits(kinds, prototype, kinds.isProxy)) {
    return encoder.keyed(object as Record<string, unknown>, keys, at);
  }
  encoder.refuseIterable(object);
  if (!inherits(kinds, prototype, (parent) => SLOTTED.has(parent))) encoder.lastClass = prototype;
  return encoder.instance(object as Record<string, unknown>, prototype, keys, at);
}

/** Writes a symbol of the global registry. Throws DataCloneError for others. */
function writeSymbol(encoder: Encoder, value: symbol, from: number): number {
  const key = Symbol.keyFor(value);
  if (key === undefined) throw encoder.refuse(value, "only symbols of Symbol.for can be cloned");
  return writeText(encoder, key, encoder.tag(SYMBOL, from));
}

const unboxing: readonly ((this: unknown) => unknown)[] = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  BigInt.prototype.valueOf,
];

function writeBoxed(encoder: Encoder, object: object, from: number): number {
  for (const unbox of unboxing) {
    let primitive: unknown;
    try {
      primitive = unbox.call(object);
    } catch {
      continue; // boxes another primitive
    }
    return encoder.value(primitive, encoder.tag(BOXED, from));
  }
  throw encoder.refuse(object, "it is a boxed symbol");
}

/** Node and Deno clone a signal as an empty object, which nobody wants. Bun and browsers refuse it. */
const SIGNAL = "signals cannot be cloned. To abort a call: pool.call.f.with({ signal })(…)";

/** Determines the kind of an object from its structured clone. */
function writeByRuntime(encoder: Encoder, object: object, from: number): number {
  if (encoder.attachments.isMoving(object)) return encoder.attach(object, from, true);
  const { kinds } = encoder.access;
  const isException = (parent: object) => !kinds.isProxy(parent) && isDOMExceptionPrototype(parent);
  if (inherits(kinds, object, isException)) return writeError(encoder, object as Error, from);
  if (inherits(kinds, object, (parent) => parent === AbortSignal.prototype)) {
    throw encoder.refuse(object, SIGNAL);
  }
  let clone: object;
  try {
    // Deno refuses some objects only as the root of a clone, not as a part of it.
    clone = encoder.depth === 1 ? structuredClone(object) : structuredClone([object])[0]!;
  } catch (error) {
    throw encoder.refuse(object, (error as Error).message, { cause: error });
  }
  if (Object.getPrototypeOf(clone) !== Object.prototype) return encoder.attach(object, from, false);
  encoder.refuseIterable(object);
  const keys = keysOf(clone);
  if (keys.length === 0 && kinds.isOrdinary(clone)) {
    return encoder.header(KEYED, 0, from);
  }
  // Properties of the object itself, since its parts may occur elsewhere, unless that would run getters again.
  const source = keys.every((key) => isData(object, key)) ? object : clone;
  return encoder.properties(source as Record<string, unknown>, keys, from);
}

function isData(object: object, key: string): boolean {
  const property = getOwnPropertyDescriptor(object, key);
  return property !== undefined && "value" in property;
}

/** Reads REGEXP at `at`. */
export function readRegExp(decoder: Decoder, at: number): RegExp {
  const source = decoder.value(at + VALUE_HEADER_BYTES);
  const flags = decoder.value(decoder.next);
  try {
    return new RegExp(source as string, flags as string);
  } catch {
    throw decoder.corrupt("pattern", at);
  }
}

/** Reads BOXED at `at`. */
export function readBoxed(decoder: Decoder, at: number): object {
  const primitive = decoder.value(at + VALUE_HEADER_BYTES);
  if (typeof primitive === "object" || primitive === undefined) {
    throw decoder.corrupt("boxed value", at);
  }
  return Object(primitive) as object;
}

/** Reads SYMBOL at `at`. */
export function readSymbol(decoder: Decoder, at: number): symbol {
  return Symbol.for(decoder.key(at + VALUE_HEADER_BYTES));
}
