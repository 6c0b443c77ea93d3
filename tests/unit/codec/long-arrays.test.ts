/**
 * Long arrays, for which runtimes are asked otherwise whether there are keys besides the indices. `structuredClone`
 * of the runtime says what must arrive.
 */
// oxlint-disable no-extend-native no-array-constructor -- what users may do
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspect } from "node:util";
import {
  countIndicesByKeys,
  inspectFrom,
  showsNoKeys,
} from "../../../src/runtimes/node-api/values/array-keys.ts";
import { roundTrip } from "../../support/codec.ts";
import { differences } from "../../support/same.ts";

const LENGTHS = [5, 31, 32, 511, 512, 1999, 2000, 3000];

const exact = (least: number) => inspectFrom(least, { clonesLive: false });

type Make = (length: number) => unknown[];

const numbers: Make = (length) => Array.from({ length }, (_, index) => index + 0.5);
const edited = (edit: (array: unknown[], middle: number) => void): Make => (length) => {
  const array = numbers(length);
  edit(array, length >> 1);
  return array;
};

function expectLikeClone(make: () => unknown): void {
  expect(differences(roundTrip([make()])[0], structuredClone(make()))).toEqual([]);
}

describe("long arrays arrive unchanged", () => {
  const makers: Record<string, Make> = {
    "fractions": numbers,
    "whole numbers": (length) => Array.from({ length }, (_, index) => index),
    "whole numbers among fractions": edited((array, middle) => array[middle] = middle),
    "-0 among whole numbers": (length) =>
      Array.from({ length }, (_, index) => index === length >> 1 ? -0 : index),
    "NaN and the infinities": edited((array, middle) => {
      array[0] = NaN;
      array[middle] = Infinity;
      array[middle + 1] = -Infinity;
    }),
    "strings": (length) => Array.from({ length }, (_, index) => `${index}€`),
    "objects": (length) => Array.from({ length }, (_, index) => ({ index })),
    "undefined": edited((array, middle) => array[middle] = undefined),
    "nothing but undefined": (length) => new Array(length).fill(undefined),
    "itself": edited((array, middle) => array[middle] = array),
    "a key": edited((array) => Object.assign(array, { extra: 1 })),
    "an empty key": edited((array) => Object.assign(array, { "": 1 })),
    "a key like what inspection shows": edited((array) =>
      Object.assign(array, { "more items": 1 })
    ),
    "a key like an index": edited((array) => Object.assign(array, { "01": 1, "4294967295": 2 })),
    "a hidden key": edited((array) => Object.defineProperty(array, "hidden", { value: 1 })),
    "a symbol": edited((array) => Object.assign(array, { [Symbol("x")]: 1 })),
    "a constructor": edited((array) => Object.assign(array, { constructor: 1 })),
    "a hole at the start": edited((array) => delete array[0]),
    "a hole in the middle": edited((array, middle) => delete array[middle]),
    "a hole at the end": edited((array) => delete array[array.length - 1]),
    "a hole among strings": (length) => {
      const array: unknown[] = Array.from({ length }, String);
      delete array[length >> 1];
      return array;
    },
    "mostly holes": (length) => {
      const array: unknown[] = new Array(length);
      array[length - 1] = 1;
      return array;
    },
    "nothing but holes": (length) => new Array(length),
    "frozen": (length) => Object.freeze(numbers(length)) as unknown[],
    "of a class": (length) => (class Numbers extends Array<number> {}).from(numbers(length)),
    "without a prototype": (length) => Object.setPrototypeOf(numbers(length), null) as unknown[],
    "of a prototype with elements": (length) => {
      const array = numbers(length);
      delete array[3];
      return Object.setPrototypeOf(array, Object.assign([], { 3: "inherited" })) as unknown[];
    },
  };
  for (const [name, make] of Object.entries(makers)) {
    test.each(LENGTHS)(`${name}, %d`, (length) => expectLikeClone(() => make(length)));
  }

  test.each(LENGTHS)("getters run once and may change holes, %d", (length) => {
    const made: { runs: number }[] = [];
    expectLikeClone(() => {
      const count = { runs: 0 };
      made.push(count);
      const array = numbers(length);
      delete array[3];
      return Object.defineProperty(array, 1, {
        get: () => {
          count.runs++;
          array[3] = "filled";
          delete array[4];
          return "got";
        },
        enumerable: true,
        configurable: true,
      });
    });
    expect(made).toEqual([{ runs: 1 }, { runs: 1 }]);
  });
});

describe("counting elements runs no user code", () => {
  // Counted, not thrown: what throws while it is shown is not noticed.
  let asked = 0;
  const ask = (): undefined => {
    asked++;
  };
  beforeEach(() => {
    asked = 0;
  });
  const getter = { get: ask, configurable: true };
  const shy: Record<string, (array: unknown[]) => unknown> = {
    "a tag": (array) => Object.defineProperty(array, Symbol.toStringTag, getter),
    "a constructor": (array) => Object.defineProperty(array, "constructor", getter),
    "a constructor with a name": (array) =>
      Object.defineProperty(array, "constructor", {
        value: Object.defineProperty(function () {}, "name", getter),
      }),
    "a constructor that is asked for instances": (array) =>
      Object.defineProperty(array, "constructor", {
        value: Object.defineProperty(function named() {}, Symbol.hasInstance, { value: ask }),
      }),
    "inspection of its own": (array) =>
      Object.defineProperty(array, inspect.custom, { value: ask }),
    "a class with a tag": (array) =>
      Object.setPrototypeOf(
        array,
        Object.defineProperty(Object.create(Array.prototype), Symbol.toStringTag, getter) as object,
      ),
    "a key whose value has a tag further within": (array) =>
      Object.assign(array, {
        [Symbol("x")]: { within: Object.defineProperty({}, Symbol.toStringTag, getter) },
      }),
    "keys whose values have inspections of their own": (array) =>
      Object.assign(array, { [Symbol("x")]: { [inspect.custom]: ask } }),
  };
  for (const [name, hide] of Object.entries(shy)) {
    test.each(LENGTHS)(`${name}, %d`, (length) => {
      const array = numbers(length);
      hide(array);
      expect(exact(0)(array)).toBe(length);
      const [arrived] = roundTrip([array]);
      expect(asked).toBe(0);
      expect(differences(arrived, numbers(length))).toEqual([]);
    });
  }

  test("Symbol.hasInstance of Array", () => {
    Object.defineProperty(Array, Symbol.hasInstance, { value: ask, configurable: true });
    try {
      expect(exact(1)(numbers(3000))).toBe(3000);
    } finally {
      Reflect.deleteProperty(Array, Symbol.hasInstance);
    }
    expect(asked).toBe(0);
  });

  test.each(LENGTHS)("element getters beside many keys, %d", (length) => {
    const array = Object.defineProperty(numbers(length), 0, {
      get: ask,
      enumerable: true,
      configurable: true,
    });
    for (let key = 0; key < 60; key++) Object.assign(array, { [`k${key}`]: 1 });
    expect(exact(0)(array)).toBe(-1);
    expect(asked).toBe(0);
    roundTrip([array]);
    expect(asked).toBe(1);
  });

  test("a property that throws during inspection does not fail the call", () => {
    const thrown = {
      get: () => {
        throw new Error("asked");
      },
    };
    expectLikeClone(() =>
      Object.assign(numbers(3000), {
        [Symbol("x")]: Object.defineProperty({}, Symbol.toStringTag, thrown),
      })
    );
  });

  test("getters and a sort function in inspect.defaultOptions", () => {
    const { defaultOptions } = inspect;
    const before = { ...defaultOptions };
    inspect.defaultOptions = { getters: true, sorted: () => asked++ };
    try {
      const array = Object.defineProperty(numbers(3000), "extra", { get: ask, enumerable: true });
      expect(exact(1)(Object.assign(array, { another: 1 }))).toBe(-1);
      expect(asked).toBe(0);
    } finally {
      inspect.defaultOptions = before;
    }
  });
});

describe("elements of prototypes", () => {
  const prototypes = { "Array.prototype": Array.prototype, "Object.prototype": Object.prototype };
  afterEach(() => {
    for (const prototype of Object.values(prototypes)) Reflect.deleteProperty(prototype, "3");
    Array.prototype.length = 0;
  });
  const named = Object.entries(prototypes).flatMap(([name, prototype]) =>
    [true, false].map((enumerable) => [name, prototype, enumerable] as const)
  );
  for (const [name, prototype, enumerable] of named) {
    test.each(LENGTHS)(`do not fill holes: ${name} (${enumerable}), %d`, (length) => {
      const array = numbers(length);
      delete array[3];
      Object.defineProperty(prototype, "3", {
        value: "inherited",
        writable: true,
        enumerable,
        configurable: true,
      });
      const arrived = roundTrip([array])[0] as unknown[];
      Reflect.deleteProperty(prototype, "3");
      expect(differences(arrived, array)).toEqual([]);
    });
  }
});

test("an element between Array.prototype and Object.prototype does not fill holes", () => {
  const array = numbers(3000);
  delete array[3];
  Object.setPrototypeOf(Array.prototype, { 3: "inherited" });
  let arrived: unknown;
  try {
    [arrived] = roundTrip([array]);
  } finally {
    Object.setPrototypeOf(Array.prototype, Object.prototype);
  }
  expect(differences(arrived, array)).toEqual([]);
});

test("elements are set without calling setters of Array.prototype", () => {
  const array: unknown[] = new Array(2000);
  array[1777] = "own";
  const fail = (): never => {
    throw new Error("asked");
  };
  Object.defineProperty(Array.prototype, "1777", { get: fail, set: fail, configurable: true });
  let arrived: unknown;
  try {
    [arrived] = roundTrip([array]);
  } finally {
    Reflect.deleteProperty(Array.prototype, "1777");
    Array.prototype.length = 0;
  }
  expect(differences(arrived, array)).toEqual([]);
});

test("inspection finds extra keys with any default options", () => {
  const { defaultOptions } = inspect;
  const before = { ...defaultOptions };
  const arrays = [numbers(3000), Object.assign(numbers(3000), { extra: 1 })] as const;
  for (
    const options of [
      {},
      { showHidden: true },
      { breakLength: 10, compact: 3 },
      { compact: false, colors: true },
    ]
  ) {
    inspect.defaultOptions = options;
    try {
      expect(arrays.map(showsNoKeys)).toEqual([true, false]);
    } finally {
      inspect.defaultOptions = before;
    }
  }
});

test("counting by inspection and by keys agree", () => {
  const inspected = exact(0);
  for (const length of [0, 1, 2, ...LENGTHS]) {
    for (
      const array of [
        numbers(length),
        Object.assign(numbers(length), { extra: 1 }),
        [...numbers(length), , 1], // oxlint-disable-line no-sparse-arrays -- the point
        new Array(length),
      ]
    ) expect(inspected(array)).toBe(countIndicesByKeys(array));
  }
});
