/**
 * The part of the adapters that reads and writes values: strings and bytes in shared memory, and kinds of
 * objects. These are Node's implementations; Deno and Bun replace some.
 */
import { Set, TextDecoder, TextEncoder } from "../../../builtins.ts";
import { inspectFrom } from "./array-keys.ts";
import { Buffer, types } from "../builtins.ts";
import { process } from "../process/process.ts";
import { writeUnits } from "../../text-units.ts";
import {
  type ByteAccess,
  LATIN1,
  NOT_ONE_BYTE,
  type ObjectKinds,
  type SharedBytes,
  type TextAccess,
} from "../../runtime.ts";

/** Node's native string methods, which take any Uint8Array as `this`. */
export interface NativeText {
  latin1Write(this: SharedBytes, text: string, start: number, length: number): number;
  latin1Slice(this: SharedBytes, start: number, end: number): string;
  ucs2Write(this: SharedBytes, text: string, start: number, length: number): number;
  ucs2Slice(this: SharedBytes, start: number, end: number): string;
}

const native = Buffer.prototype as unknown as NativeText;
export const latin1Write: NativeText["latin1Write"] = native.latin1Write;
export const latin1Slice: NativeText["latin1Slice"] = native.latin1Slice;
const { ucs2Write, ucs2Slice } = native;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Finds a unit above 0xff. V8 compiles it separately for strings stored with one byte per unit. There it can
 * never match, so the test takes 11 ns at any length.
 */
export const ABOVE_ONE_BYTE: RegExp = /[\u0100-\uffff]/;

export const textAccess: TextAccess = {
  joinedTexts: 48,
  loopUnits: 24,
  writeUnits,
  writeOneByte: (text, target, start) => {
    if (ABOVE_ONE_BYTE.test(text)) return NOT_ONE_BYTE;
    latin1Write.call(target, text, start, text.length);
    return LATIN1;
  },
  writeTwoByte: (text, bytes, _units, start) => {
    ucs2Write.call(bytes, text, start, 2 * text.length);
  },
  readOneByte: (source, start, end) => latin1Slice.call(source, start, end),
  // On Deno `asciiSlice` alone is faster, but echoes of 64 KiB took 1.3 to 2.4 times as long with it.
  readAscii: (source, start, end) => latin1Slice.call(source, start, end),
  readTwoByte: (source, start, end) => ucs2Slice.call(source, start, end),
  encodeInto: (text, target, start, end) => encoder.encodeInto(text, target.subarray(start, end)),
  readUtf8: (source, start, end) => decoder.decode(source.subarray(start, end)),
};

/** Longest copy for which one native call is faster than creating an array and copying into it. */
const SLICED_BYTES = 8192;

export const byteAccess: Omit<ByteAccess, "isUntransferable"> = {
  copyOut: (source, start, end) => {
    // `slice` uses the species constructor, so the copy of a shared view is an unshared array.
    if (end - start <= SLICED_BYTES) {
      return source.slice(start, end) as Uint8Array as Uint8Array<ArrayBuffer>;
    }
    // Unlike `new Uint8Array(length)`, this does not write zeros first.
    return new Uint8Array(source.subarray(start, end));
  },
  copy: (source, start, length) => new Uint8Array(new Uint8Array(source, start, length)).buffer,
  bufferPrototype: Buffer.prototype,
  toBuffer: (bytes) => Buffer.from(bytes),
};

const { getOwnPropertySymbols } = Object;
/** Symbols that mark the classes of Node and Deno that structured clone supports. */
const HOST_SYMBOLS: ReadonlySet<string | undefined> = new Set([
  "messaging_clone_symbol",
  "Deno.core.hostObject",
]);
const { getBuiltinModule } = process;

export const objectKinds: ObjectKinds = {
  isProxy: types.isProxy,
  isArrayBuffer: types.isArrayBuffer,
  isSharedArrayBuffer: types.isSharedArrayBuffer,
  isMap: types.isMap,
  isSet: types.isSet,
  isDate: types.isDate,
  isRegExp: types.isRegExp,
  isNativeError: types.isNativeError,
  isBoxedPrimitive: types.isBoxedPrimitive,
  isModuleNamespace: types.isModuleNamespaceObject,
  isArguments: types.isArgumentsObject,
  isRefused: types.isProxy,
  isHostClass: (prototype) =>
    getOwnPropertySymbols(prototype).some(({ description }) => HOST_SYMBOLS.has(description)) ||
    // Checked last, since loading that module costs Deno 40 ms.
    (Object.hasOwn(prototype, Symbol.toStringTag) &&
      prototype === getBuiltinModule?.("node:crypto")?.KeyObject.prototype),
  isOrdinary: (value) =>
    !(types.isMap(value) || types.isSet(value) || types.isDate(value) || types.isRegExp(value) ||
      types.isNativeError(value) || types.isBoxedPrimitive(value) ||
      types.isArgumentsObject(value) ||
      types.isAnyArrayBuffer(value) || types.isPromise(value) || types.isWeakMap(value) ||
      types.isWeakSet(value) || types.isGeneratorObject(value) || types.isMapIterator(value) ||
      types.isSetIterator(value) || types.isModuleNamespaceObject(value)),
  clonesLive: false,
  countIndices: inspectFrom(512, { clonesLive: false }),
  countKeys: (object) => {
    let count = 0;
    for (const _ in object) count++;
    return count;
  },
};
