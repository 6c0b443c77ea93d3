/**
 * Plans that walk the shape: for everything where code must not be made from strings, and for what
 * gains nothing from it. `compile.ts` says the same in source text and must keep to the order of steps
 * here, down to which of two misfits is reported.
 */
import { SCALARS, storeTypedArray } from "./scalars.ts";
import { mismatch, within } from "./mismatch.ts";
import { propertyStep } from "../path.ts";
import { defineValue } from "../own-property.ts";
import type { Plan } from "./plan.ts";
import type { ArrayShape, ScalarShape, StructShape, TextShape } from "./shape.ts";
import { expectedOf, isScalar, PRESENCE_BITS } from "./shape.ts";
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
import {
  checkEachKey,
  countElements,
  hasPlainPrototype,
  isInheritedKey,
  ownValue,
} from "./values.ts";

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
  const scalarKind = isScalar(of) ? of.kind : undefined;
  return {
    write: (out, rel, value) => {
      const count = countElements(shape, value, expected);
      let start = rel + elementsAt;
      if (max === undefined) {
        start = out.reserve(count * stride);
        out.point(rel, start, count);
      } else out.writer.memory.i32[(out.base + rel) >> 2] = count;
      if (scalarKind !== undefined && !Array.isArray(value)) {
        storeTypedArray(scalarKind, out.writer.memory, out.base + start, value as never, count);
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
  const { keys, fields, presenceAt, presenceWords } = shape;
  const expected = expectedOf(shape);
  const hasRequired = fields.some(({ bit }) => bit < 0);
  const known = new Set(keys);
  const inherited = keys.map(isInheritedKey);
  const steps = fields.map(({ key }) => propertyStep(key));
  const byKey = keys.map((_, index) => fields.findIndex((field) => field.index === index));
  const keysInResult = [...byKey].sort((a, b) =>
    Number(fields[a]!.bit >= 0) - Number(fields[b]!.bit >= 0)
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
      const isGiven = fields.filter(({ bit, index }) => bit < 0 || values[index] !== undefined);
      const { countKeys } = out.writer.access.kinds;
      if (!hasPlainPrototype(object) || countKeys(object) !== isGiven.length) {
        checkEachKey(known, object);
      }
      for (let word = 0; word < presenceWords; word++) {
        let bits = 0;
        for (const { bit, index } of fields) {
          if (Math.trunc(bit / PRESENCE_BITS) !== word || bit < 0) continue;
          if (values[index] !== undefined) bits |= 1 << bit % PRESENCE_BITS;
        }
        out.writer.memory.i32[(out.base + rel + presenceAt + 4 * word) >> 2] = bits;
      }
      for (let place = 0; place < fields.length; place++) {
        const { bit, index, offset } = fields[place]!;
        if (bit >= 0 && values[index] === undefined) continue;
        try {
          plans[place]!.write(out, rel + offset, values[index]);
        } catch (error) {
          throw within(error, steps[place]!);
        }
      }
    },
    read: (input, at) => {
      const values = fields.map(({ bit, offset }, place) => {
        if (bit >= 0 && !isPresent(input.memory.i32, at + presenceAt, bit)) return undefined;
        return plans[place]!.read(input, at + offset);
      });
      const result: Record<string, unknown> = {};
      for (const place of keysInResult) {
        const { key, bit, index } = fields[place]!;
        const value = values[place];
        if (bit >= 0 && value === undefined) continue; // no field reads as undefined
        if (inherited[index]) defineValue(result, key, value);
        else result[key] = value;
      }
      return result;
    },
  };
}

/** Whether the optional field with presence bit `bit` is there. */
export function isPresent(i32: Int32Array, presenceAt: number, bit: number): boolean {
  return (i32[(presenceAt >> 2) + (bit >> 5)]! & (1 << (bit & 31))) !== 0;
}
