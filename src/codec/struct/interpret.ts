/**
 * Plans that walk the shape: used for all shapes if code generation from strings is not allowed, and otherwise
 * for shapes that gain nothing from it. `compile.ts` generates the same steps as source text and must keep
 * their order, so that both report the same one of two mismatches.
 */
import { Set } from "../../builtins.ts";
import { bytesOf } from "../support/intrinsics.ts";
import { defineValue } from "../support/own-property.ts";
import { propertyStep } from "../support/path.ts";
import type { Input } from "./input.ts";
import { lengthOfTyped, Mismatch, mismatch, within } from "./mismatch.ts";
import type { Output } from "./output.ts";
import { SCALARS } from "./scalars.ts";
import type { ArrayShape, ScalarShape, StructShape, TextShape } from "./shape.ts";
import { expectedOf, isScalar } from "./shape.ts";
import {
  boundedLength,
  readBoundedBytes,
  readBoundedText,
  readBytes,
  readText,
  writeBoundedBytes,
  writeBoundedText,
  writeBytes,
  writeText,
} from "./text.ts";

/** The writer and the reader of one shape. */
export interface Plan {
  /**
   * Writes `value` into the fixed part at `rel`, relative to the outermost struct, and the rest into
   * the tail. Throws a Mismatch if it does not fit. The memory may have moved afterwards.
   */
  readonly write: (out: Output, rel: number, value: unknown) => void;
  /** Reads the fixed part at `at`, which is known to lie in the record, and its data in the tail. */
  readonly read: (input: Input, at: number) => unknown;
}

export function scalarPlan(shape: ScalarShape): Plan {
  const { expected, fits, store, load } = SCALARS[shape.kind];
  return {
    write: (out, rel, value) => {
      if (!fits(value)) throw mismatch(expected, value);
      store(out.writer.memory, out.base + rel, value as number);
    },
    read: (input, at) => load(input.memory, at),
  };
}

export function textPlan(shape: TextShape): Plan {
  const { kind, max } = shape;
  const expected = expectedOf(shape);
  if (kind === "utf8") {
    return max === undefined
      ? { write: (out, rel, value) => writeText(out, rel, value, expected), read: readText }
      : {
        write: (out, rel, value) => writeBoundedText(out, rel, value, max, expected),
        read: (input, at) => readBoundedText(input, at, max),
      };
  }
  return max === undefined
    ? { write: (out, rel, value) => writeBytes(out, rel, value, expected), read: readBytes }
    : {
      write: (out, rel, value) => writeBoundedBytes(out, rel, value, max, expected),
      read: (input, at) => readBoundedBytes(input, at, max),
    };
}

export function interpretArray(shape: ArrayShape, element: Plan): Plan {
  const { of, max, elementsAt } = shape;
  const stride = of.size;
  const expected = expectedOf(shape);
  const hasScalars = isScalar(of);
  return {
    write: (out, rel, value) => {
      const count = countElements(shape, value, expected);
      let start = rel + elementsAt;
      if (max === undefined) {
        start = out.reserve(count * stride);
        out.point(rel, start, count);
      } else out.writer.memory.i32[(out.base + rel) >> 2] = count;
      if (hasScalars && !Array.isArray(value)) {
        out.writer.memory.u8.set(bytesOf(value, count * stride), out.base + start);
        return;
      }
      let index = 0;
      try {
        for (; index < count; index++) {
          element.write(out, start + index * stride, (value as readonly unknown[])[index]);
        }
      } catch (error) {
        throw within(error, `[${index}]`);
      }
    },
    read: (input, at) => {
      const start = max === undefined ? input.openArray(at, stride) : at + elementsAt;
      const count = max === undefined ? input.count : boundedLength(input, at, max);
      const values = new Array<unknown>(count);
      for (let index = 0; index < count; index++) {
        values[index] = element.read(input, start + index * stride);
      }
      return values;
    },
  };
}

/** `plans`: of the fields, in writing order. */
export function interpretStruct(shape: StructShape, plans: readonly Plan[]): Plan {
  const { keys, presenceAt, presenceWords } = shape;
  const fields = shape.fields.map((field, place) => {
    const { write, read } = plans[place]!;
    return { ...field, write, read, step: propertyStep(field.key) };
  });
  const expected = expectedOf(shape);
  const hasRequired = fields.some(({ bit }) => bit < 0);
  const known = new Set(keys);
  const inherited = keys.map(isInheritedKey);
  const inResult = [...fields].sort((a, b) =>
    Number(a.bit >= 0) - Number(b.bit >= 0) || a.index - b.index
  );
  return {
    write: (out, rel, value) => {
      if (typeof value !== "object" || value === null || (!hasRequired && Array.isArray(value))) {
        throw mismatch(expected, value);
      }
      const object = value as Record<string, unknown>;
      const values = keys.map((key, index) =>
        inherited[index] ? ownValue(object, key) : object[key]
      );
      const given = fields.filter(({ bit, index }) => bit < 0 || values[index] !== undefined);
      const { countKeys } = out.writer.access.kinds;
      if (!hasPlainPrototype(object) || countKeys(object) !== given.length) {
        checkEachKey(known, object);
      }
      const { i32 } = out.writer.memory;
      const presence = (out.base + rel + presenceAt) >> 2;
      for (let word = 0; word < presenceWords; word++) i32[presence + word] = 0;
      for (const { bit } of given) if (bit >= 0) i32[presence + (bit >> 5)]! |= 1 << (bit & 31);
      for (const { write, index, offset, step } of given) {
        try {
          write(out, rel + offset, values[index]);
        } catch (error) {
          throw within(error, step);
        }
      }
    },
    read: (input, at) => {
      const values: unknown[] = [];
      for (const { bit, index, offset, read } of fields) {
        const isThere = bit < 0 || isPresent(input.memory.i32, at + presenceAt, bit);
        values[index] = isThere ? read(input, at + offset) : undefined;
      }
      const result: Record<string, unknown> = {};
      for (const { key, bit, index } of inResult) {
        const value = values[index];
        if (bit >= 0 && value === undefined) continue; // absent, since no field reads as undefined
        if (inherited[index]) defineValue(result, key, value);
        else result[key] = value;
      }
      return result;
    },
  };
}

/** Whether the optional field with presence bit `bit` is present. */
export function isPresent(i32: Int32Array, presenceAt: number, bit: number): boolean {
  return (i32[(presenceAt >> 2) + (bit >> 5)]! & (1 << (bit & 31))) !== 0;
}

/**
 * Whether every object inherits this key. Such a field counts as present only if it is an own property of
 * the value, and is defined on a result, not assigned, so `__proto__` is an ordinary field.
 */
export function isInheritedKey(key: string): boolean {
  return key in Object.prototype;
}

/** The value of such a key if it is an own property. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

const { getPrototypeOf } = Object;
const ObjectPrototype = Object.prototype;

export function hasPlainPrototype(object: object): boolean {
  return getPrototypeOf(object) === ObjectPrototype;
}

/**
 * Refuses own enumerable keys that the struct does not have. Comparing each key would double the time to write
 * a struct of eight numbers, so callers skip it for a plain object with exactly as many enumerable keys as were
 * read. These are the same keys, because such an object inherits no field. The exceptions are a field hidden
 * from enumeration and a field on `Object.prototype`: depending on `countKeys`, a runtime may then ignore the
 * same number of other keys, which another runtime refuses.
 */
export function checkEachKey(known: ReadonlySet<string>, object: object): void {
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    const names = [...known].join(", ");
    const error = new Mismatch(`absent (the struct has: ${names})`, "a key it does not have");
    error.path = propertyStep(key);
    throw error;
  }
}

/** Number of elements of an array, or of the matching typed array. Throws Mismatch for any other value. */
export function countElements(shape: ArrayShape, value: unknown, expected: string): number {
  const count = Array.isArray(value)
    ? value.length
    : lengthOfTyped(value, shape.arrayName, expected);
  // Only a proxy can have an invalid length.
  if (count >>> 0 !== count) throw new Mismatch(expected, "an array of impossible length");
  if (shape.max !== undefined && count > shape.max) {
    throw new Mismatch(expected, `${count} elements`);
  }
  return count;
}
