/**
 * Kinds of objects in a browser, by the getters and methods that throw for objects without the slot. Nothing there shows
 * proxies: they count as what they stand for, and their traps run.
 */
import { Date, Error, Map, Promise, RegExp, Set, structuredClone } from "../../builtins.ts";
import { countIndicesByKeys } from "../node-api/values/array-keys.ts";
import type { ObjectKinds } from "../runtime.ts";

type Probe = (this: unknown) => unknown;

function getter(prototype: object, name: string): Probe {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get as Probe;
}

/** Whether `probe` accepts a value. */
function accepts(probe: Probe): (value: unknown) => boolean {
  return (value) => {
    try {
      probe.call(value);
      return true;
    } catch {
      return false;
    }
  };
}

const { toString } = Object.prototype;
const tagOf = (value: unknown): string => toString.call(value);

const isBoxed = [Number, String, Boolean, Symbol, BigInt]
  .map(({ prototype }) => accepts(prototype.valueOf as Probe));

const hasTag = (value: object): boolean => Symbol.toStringTag in value;

type IsError = (value: unknown) => boolean;
/** A subclass has the tag of its parent. An object with a tag of its own shows none of it. */
const isError: IsError = (Error as unknown as { readonly isError?: IsError }).isError ??
  ((value) => tagOf(value) === "[object Error]" || value instanceof Error);

const SharedMemory = (globalThis as { SharedArrayBuffer?: SharedArrayBufferConstructor })
  .SharedArrayBuffer;

/** `structuredClone` refuses or changes what has a slot that no getter shows. */
function isOrdinary(value: object): boolean {
  try {
    return Object.getPrototypeOf(structuredClone(value)) === Object.prototype;
  } catch {
    return false;
  }
}

export const objectKinds: ObjectKinds = {
  isProxy: () => false,
  isArrayBuffer: accepts(getter(ArrayBuffer.prototype, "byteLength")) as (
    value: unknown,
  ) => value is ArrayBuffer,
  isSharedArrayBuffer:
    (SharedMemory === undefined
      ? () => false
      : accepts(getter(SharedMemory.prototype, "byteLength"))) as (
        value: unknown,
      ) => value is SharedArrayBuffer,
  isMap: accepts(getter(Map.prototype, "size")) as (
    value: object,
  ) => value is Map<unknown, unknown>,
  isSet: accepts(getter(Set.prototype, "size")) as (value: object) => value is Set<unknown>,
  isDate: accepts(Date.prototype.getTime as Probe) as (value: object) => value is Date,
  isRegExp:
    ((value: object) =>
      value !== RegExp.prototype && accepts(getter(RegExp.prototype, "source"))(value)) as (
        value: object,
      ) => value is RegExp,
  isNativeError: isError as (value: object) => value is Error,
  isBoxedPrimitive: (value) => isBoxed.some((isOne) => isOne(value)),
  isModuleNamespace: (value) =>
    Object.getPrototypeOf(value) === null && tagOf(value) === "[object Module]",
  isArguments: (value) => !hasTag(value) && tagOf(value) === "[object Arguments]",
  isRefused: () => false,
  isHostClass: () => false,
  isOrdinary,
  clonesLive: false,
  countIndices: countIndicesByKeys,
  countKeys: (object) => {
    let count = 0;
    for (const _ in object) count++;
    return count;
  },
};

export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}
