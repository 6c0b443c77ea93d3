/**
 * Values that ordinary payloads do not have: symbols, regular expressions, boxed primitives, wrappers, handles, instances of
 * classes and objects of the platform.
 *
 * If no language slot distinguishes them (such as Blob and EventTarget), the runtime's own `structuredClone` decides. It is
 * called for platform objects, and for objects without enumerable properties, for which it runs no user code.
 */
import { Date, Error, Map, RegExp, Set, structuredClone } from "../../../builtins.ts";
import { brandOf } from "../../../codec/support/brands.ts";
import { getterOf } from "../../../codec/support/intrinsics.ts";
import { isPlatformObject } from "./platform.ts";
import { inherits } from "../../../codec/support/prototypes.ts";
import { isStructView } from "../../../codec/support/struct-views.ts";
import type { Reader } from "../../../codec/reader.ts";
import { BOXED, KEYED, REGEXP, SYMBOL, VALUE_HEADER_BYTES } from "../../../codec/tags.ts";
import type { Writer } from "../../../codec/writer.ts";
import { isBorrowed } from "./borrow.ts";
import { isDOMExceptionPrototype, writeError } from "../../../codec/kinds/errors.ts";
import { writeHandle } from "./handles.ts";
import {
  refuseIterable,
  writeInstance,
  writeKeyed,
  writeProperties,
} from "../../../codec/kinds/objects.ts";
import { writeText } from "../../../codec/kinds/text.ts";
import { WRAPPERS, writeWrapper } from "./wrappers.ts";

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
  writer: Writer,
  value: unknown,
  prototype: object | null,
  at: number,
): number {
  if (typeof value === "symbol") return writeSymbol(writer, value, at);
  return typeof value === "function"
    ? -1
    : writeOtherObject(writer, value as object, prototype, at);
}

function writeOtherObject(
  writer: Writer,
  object: object,
  prototype: object | null,
  at: number,
): number {
  if (prototype === ObjectPrototype || prototype === null) {
    return writeByRuntime(writer, object, at);
  }
  const { kinds } = writer.access;
  if (kinds.isRegExp(object)) {
    const end = writer.tag(REGEXP, at);
    return writer.value(flagsOf(object), writer.value(sourceOf.call(object), end));
  }
  if (kinds.isBoxedPrimitive(object)) return writeBoxed(writer, object, at);
  const brand = brandOf(object);
  if (brand !== undefined) return writeWrapper(writer, object, brand, at);
  if (isBorrowed(object)) throw writer.refuse(object, "it is borrowed, and only for this task");
  if (isStructView(object)) throw writer.refuse(object, "it is a view: copy what it shows");
  const keys = keysOf(object);
  const handled = keys.length === 0 ? writeHandle(writer, object, at) : -1;
  if (handled >= 0) return handled;
  if (keys.length === 0 || writer.isTransferred(object) || isPlatformObject(kinds, prototype)) {
    return writeByRuntime(writer, object, at);
  }
  // Reading a key of a proxy would run its trap.
  if (inherits(kinds, prototype, kinds.isProxy)) {
    return writeKeyed(writer, object as Record<string, unknown>, keys, at);
  }
  refuseIterable(writer, object);
  if (!inherits(kinds, prototype, (parent) => SLOTTED.has(parent))) writer.lastClass = prototype;
  return writeInstance(writer, object as Record<string, unknown>, prototype, keys, at);
}

/** Writes a symbol of the global registry. Throws DataCloneError for others. */
function writeSymbol(writer: Writer, value: symbol, from: number): number {
  const key = Symbol.keyFor(value);
  if (key === undefined) throw writer.refuse(value, "only symbols of Symbol.for can be cloned");
  return writeText(writer, key, writer.tag(SYMBOL, from));
}

const unboxing: readonly ((this: unknown) => unknown)[] = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  BigInt.prototype.valueOf,
];

function writeBoxed(writer: Writer, object: object, from: number): number {
  for (const unbox of unboxing) {
    let primitive: unknown;
    try {
      primitive = unbox.call(object);
    } catch {
      continue; // boxes another primitive
    }
    return writer.value(primitive, writer.tag(BOXED, from));
  }
  throw writer.refuse(object, "it is a boxed symbol");
}

/** Determines the kind of an object from its structured clone. */
function writeByRuntime(writer: Writer, object: object, from: number): number {
  if (writer.isTransferred(object)) return writer.moved(object, from);
  const { kinds } = writer.access;
  const isException = (parent: object) => !kinds.isProxy(parent) && isDOMExceptionPrototype(parent);
  if (inherits(kinds, object, isException)) return writeError(writer, object as Error, from);
  let clone: object;
  try {
    // Deno refuses some objects only as the root of a clone, not as a part of it.
    clone = writer.depth === 1 ? structuredClone(object) : structuredClone([object])[0]!;
  } catch (error) {
    throw writer.refuse(object, (error as Error).message, { cause: error });
  }
  if (Object.getPrototypeOf(clone) !== Object.prototype) return writer.attach(object, from, false);
  refuseIterable(writer, object);
  const keys = keysOf(clone);
  if (keys.length === 0 && kinds.isOrdinary(clone)) {
    return writer.header(KEYED, 0, from);
  }
  // Properties of the object itself, since its parts may occur elsewhere, unless that would run getters again.
  const source = keys.every((key) => isData(object, key)) ? object : clone;
  return writeProperties(writer, source as Record<string, unknown>, keys, from);
}

function isData(object: object, key: string): boolean {
  const property = getOwnPropertyDescriptor(object, key);
  return property !== undefined && "value" in property;
}

/** Reads REGEXP at `at`. */
export function readRegExp(reader: Reader, at: number): RegExp {
  const source = reader.value(at + VALUE_HEADER_BYTES);
  const flags = reader.value(reader.next);
  try {
    return new RegExp(source as string, flags as string);
  } catch {
    throw reader.corrupt("pattern", at);
  }
}

/** Reads BOXED at `at`. */
export function readBoxed(reader: Reader, at: number): object {
  const primitive = reader.value(at + VALUE_HEADER_BYTES);
  if (typeof primitive === "object" || primitive === undefined) {
    throw reader.corrupt("boxed value", at);
  }
  return Object(primitive) as object;
}

/** Reads SYMBOL at `at`. */
export function readSymbol(reader: Reader, at: number): symbol {
  return Symbol.for(reader.key(at + VALUE_HEADER_BYTES));
}
