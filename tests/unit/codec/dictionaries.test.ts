/** Objects of more keys than a key list has, which are written and read otherwise; and identity among many objects. */
import { afterEach, describe, expect, test } from "vitest";
import { MAX_LISTED_KEYS } from "../../../src/codec/key-lists.ts";
import { roundTrip } from "../../support/codec.ts";
import { differences } from "../../support/same.ts";

const SIZES = [32, 33, MAX_LISTED_KEYS, MAX_LISTED_KEYS + 1, 1000];

type Dictionary = Record<string, unknown>;

function dictionary(size: number, edit: (object: Dictionary) => unknown = () => {}): Dictionary {
  const object: Dictionary = {};
  for (let key = 0; key < size; key++) object[`key ${key}`] = key / 2;
  edit(object);
  return object;
}

function define(object: Dictionary, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function expectLikeClone(make: () => unknown): void {
  expect(differences(roundTrip([make()])[0], structuredClone(make()))).toEqual([]);
}

/** A getter that comes first and does this to the object, once. */
function first(
  size: number,
  act: (object: Dictionary) => void,
  later: Dictionary = {},
): Dictionary {
  const object: Dictionary = {
    get first() {
      act(object);
      return "first";
    },
  };
  for (const key of Object.keys(later)) define(object, key, later[key]);
  return Object.assign(object, dictionary(size));
}

describe("dictionaries arrive unchanged", () => {
  const edits: Record<string, (object: Dictionary) => unknown> = {
    "numbers": () => {},
    "every kind of value": (object) =>
      Object.assign(object, { a: undefined, b: null, c: [1, "two"], d: new Date(0), e: { f: -0 } }),
    "keys that are indices": (object) => Object.assign(object, { 10: "ten", 9: "nine" }),
    "an empty key, long keys, and other alphabets": (object) =>
      Object.assign(object, { "": 1, ["x".repeat(100)]: 2, "ключ": 3, "\ud800": 4 }),
    "__proto__": (object) => define(object, "__proto__", { polluted: true }),
    "what every object inherits": (object) => {
      for (const key of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
        define(object, key, key);
      }
    },
    "itself": (object) => object["self"] = { again: object },
    "hidden and symbol keys": (object) => {
      Object.defineProperty(object, "hidden", { value: 1 });
      Object.assign(object, { [Symbol("x")]: 1 });
    },
  };
  for (const [name, edit] of Object.entries(edits)) {
    test.each(SIZES)(`${name}, %d keys`, (size) => expectLikeClone(() => dictionary(size, edit)));
  }

  test.each(SIZES)("without a prototype or with a class, %d keys", (size) => {
    expectLikeClone(() => Object.assign(Object.create(null), dictionary(size)) as unknown);
    class Table {
      method(): void {}
    }
    expectLikeClone(() => Object.assign(new Table(), dictionary(size)));
  });

  test.each(SIZES)(
    "with a class property that a getter uncovers by deleting the own one, %d keys",
    (size) => {
      class Table {
        declare inherited: string;
      }
      Table.prototype.inherited = "inherited";
      expectLikeClone(() =>
        Object.setPrototypeOf(
          first(size, (object) => delete object["inherited"], { inherited: "own" }),
          Table.prototype,
        ) as unknown
      );
    },
  );

  test("with Object.prototype as their prototype", () => {
    const arrived = roundTrip([dictionary(1000)])[0] as Dictionary;
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
    expect(String(arrived)).toBe("[object Object]");
    expect("toString" in arrived).toBe(true);
  });
});

describe("a getter that changes later keys", () => {
  const later = { next: "next", toString: "own", constructor: "own", undefined: undefined };
  const acts: Record<string, (object: Dictionary) => void> = {
    "removes them": (object) => {
      for (const key of Object.keys(later)) delete object[key];
    },
    "removes __proto__": (object) => delete object["__proto__"],
    "adds others": (object) => object["new"] = 1,
    "changes them": (object) => object["next"] = "changed",
    "removes most": (object) => {
      for (let key = 1; key < 1000; key++) delete object[`key ${key}`];
    },
  };
  for (const [name, act] of Object.entries(acts)) {
    test.each(SIZES)(`${name}, %d keys`, (size) => {
      expectLikeClone(() => {
        const object = first(size, act, later);
        define(object, "__proto__", "own");
        return object;
      });
    });
  }
});

describe("a deleted key does not arrive if a getter lets the object inherit it", () => {
  const acts: Record<string, (object: Dictionary) => void> = {
    "a prototype": (object) => Object.setPrototypeOf(object, { gone: "inherited" }),
    "a prototype that listens": (object) =>
      Object.setPrototypeOf(
        object,
        new Proxy({}, {
          get: () => {
            throw new Error("asked");
          },
          has: () => {
            throw new Error("asked");
          },
        }),
      ),
    "more in Object.prototype": () => {
      (Object.prototype as Dictionary)["gone"] = "inherited";
    },
  };
  afterEach(() => {
    Reflect.deleteProperty(Object.prototype, "gone");
  });
  for (const [name, act] of Object.entries(acts)) {
    test.each([MAX_LISTED_KEYS + 1, 1000])(`${name}, %d keys`, (size) => {
      const object = first(size, (each) => {
        delete each["gone"];
        act(each);
      }, { gone: "own" });
      const arrived = roundTrip([object])[0] as Dictionary;
      expect(Object.hasOwn(arrived, "gone")).toBe(false);
      expect(Object.keys(arrived).length).toBe(size + 1);
    });
  }
});

describe("if Object.prototype has additional properties", () => {
  const names = ["inherited", "hidden"];
  afterEach(() => {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  });

  test.each(SIZES)("deleted keys do not arrive, %d keys", (size) => {
    const object = first(
      size,
      (each) => {
        for (const name of names) delete each[name];
      },
      Object.fromEntries(names.map((name) => [name, "own"])),
    );
    for (const [index, name] of names.entries()) {
      Object.defineProperty(Object.prototype, name, {
        value: "inherited",
        enumerable: index === 0,
        configurable: true,
        writable: true,
      });
    }
    const arrived = roundTrip([object])[0] as Dictionary;
    expect(names.map((name) => Object.hasOwn(arrived, name))).toEqual([false, false]);
    expect(Object.keys(arrived).length).toBe(size + 1);
  });
});

describe("identity", () => {
  test.each([10, 13, 255, 256, 257, 600, 3000])("is kept among %d objects", (count) => {
    expectLikeClone(() => {
      const objects: unknown[] = Array.from({ length: count }, (_, index) => ({ index }));
      // Each once more, from the last, and containers of them between.
      return [...objects, { objects }, ...objects.toReversed(), objects];
    });
  });

  test("is not kept between values", () => {
    const shared = { shared: true };
    for (const count of [600, 3, 600, 20]) {
      const objects = Array.from({ length: count }, () => ({ shared }));
      expectLikeClone(() => [objects, shared]);
    }
  });
});
