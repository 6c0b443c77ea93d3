import { describe, expect, test } from "vitest";
import { packError, unpackError } from "../../../src/codec/codec.ts";
import { isError, MAX_ERROR_DEPTH } from "../../../src/codec/kinds/errors.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

/** The error as it arrives on the other side. */
function arrive<E extends Error>(error: E): E {
  return unpackError(currentRuntime, packError(currentRuntime, error)) as E;
}

describe("errors arrive", () => {
  test.each([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])(
    "%o keeps its class",
    (constructor) => {
      const error = new constructor("message");
      const arrived = arrive(error);
      expect(Object.getPrototypeOf(arrived)).toBe(constructor.prototype);
      expect([arrived.name, arrived.message, arrived.stack]).toEqual([
        error.name,
        error.message,
        error.stack,
      ]);
      expect(Object.keys(arrived)).toEqual([]);
      expect("cause" in arrived).toBe(false);
    },
  );

  test("each error has the same own properties as a new error", () => {
    // Bun's have where they were made as well.
    const keyListOf = (error: Error) =>
      ["message", "cause", "stack"].map((key) => {
        const found = Object.getOwnPropertyDescriptor(error, key);
        return [found?.enumerable, found?.configurable, key === "stack" || found?.writable];
      });
    // More than are made at once, where that is done.
    const errors = Array.from(
      { length: 40 },
      (_, n) => new (n % 2 === 0 ? TypeError : Error)(`m${n}`, { cause: n }),
    );
    const arrived = errors.map((error) => arrive(error));
    expect(new Set(arrived).size).toBe(errors.length);
    for (const [n, error] of arrived.entries()) {
      expect([error.message, error.cause, error.stack]).toEqual([`m${n}`, n, errors[n]!.stack]);
      expect(keyListOf(error)).toEqual(keyListOf(errors[n]!));
      expect(Object.prototype.toString.call(error)).toBe("[object Error]");
    }
  });

  test("a subclass arrives as its nearest built-in class with its name and fields", () => {
    class HttpError extends RangeError {
      readonly status = 404;
      override readonly name = "HttpError";
    }
    const arrived = arrive(new HttpError("gone"));
    expect(arrived).toBeInstanceOf(RangeError);
    expect([arrived.name, arrived.message, arrived.status]).toEqual(["HttpError", "gone", 404]);
  });

  test("code, errno and other own properties are kept", () => {
    const error = Object.assign(new Error("no file"), {
      code: "ENOENT",
      errno: -2,
      detail: { path: ["a", new Map([[1, 2]])] },
    });
    const arrived = arrive(error);
    expect(Object.entries(arrived)).toEqual(Object.entries(error));
  });

  test("causes arrive, whether they are errors or other values", () => {
    const arrived = arrive(new Error("a", { cause: new TypeError("b", { cause: { c: 1n } }) }));
    expect(arrived.cause).toBeInstanceOf(TypeError);
    expect((arrived.cause as Error).cause).toEqual({ c: 1n });
    expect(Object.keys(arrived)).toEqual([]);
    expect("cause" in arrive(new Error("x", { cause: undefined }))).toBe(true);
  });

  test.runIf("SuppressedError" in globalThis)("a SuppressedError arrives with both errors", () => {
    const cannot = Object.assign(() => {}, {});
    const arrived = arrive(
      new SuppressedError(new TypeError("1"), "two", "both"),
    ) as SuppressedError;
    expect(arrived).toBeInstanceOf(SuppressedError);
    expect([arrived.message, arrived.error.message, arrived.suppressed]).toEqual([
      "both",
      "1",
      "two",
    ]);
    expect(arrived.error).toBeInstanceOf(TypeError);
    expect(Object.keys(arrived)).toEqual([]);
    const partly = arrive(new SuppressedError(cannot, 2)) as SuppressedError;
    expect([partly.error, partly.suppressed]).toEqual([undefined, 2]);
    const plain = Object.assign(new Error("own"), { error: 1, suppressed: 2 });
    expect({ ...arrive(plain) }).toEqual({ error: 1, suppressed: 2 });
  });

  test("an AggregateError arrives with its errors", () => {
    const arrived = arrive(new AggregateError([new TypeError("1"), "two"], "all"));
    expect(arrived).toBeInstanceOf(AggregateError);
    expect(arrived.errors[0]).toBeInstanceOf(TypeError);
    expect(arrived.errors[1]).toBe("two");
  });

  test("a DOMException arrives", () => {
    const arrived = arrive(new DOMException("stop", "AbortError"));
    expect(arrived).toBeInstanceOf(DOMException);
    expect([arrived.name, arrived.message, arrived.code]).toEqual(["AbortError", "stop", 20]);
  });

  test("cycles and repeated errors keep their identity", () => {
    const error = new Error("loop") as Error & { again?: Error; other?: Error };
    error.cause = error;
    error.again = error;
    error.other = new Error("other", { cause: error });
    const arrived = arrive(error);
    expect(arrived.cause).toBe(arrived);
    expect(arrived.again).toBe(arrived);
    expect(arrived.other!.cause).toBe(arrived);
  });

  test("a chain of 100,000 causes does not overflow the stack", () => {
    let error = new Error("0");
    for (let depth = 1; depth < 100_000; depth++) {
      error = new Error(String(depth), { cause: error });
    }
    let arrived: unknown = arrive(error);
    let depth = 0;
    for (; arrived instanceof Error; arrived = arrived.cause) depth++;
    expect(depth).toBe(MAX_ERROR_DEPTH + 1);
  });
});

describe("hostile errors", () => {
  test("uncloneable properties are left out and the others arrive", () => {
    const error = Object.assign(new Error("e"), { callback: () => {}, fine: 1 });
    expect(Object.entries(arrive(error))).toEqual([["fine", 1]]);
  });

  test("throwing getters do not replace the error", () => {
    const error = new TypeError("real");
    Object.defineProperty(error, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("getter");
      },
    });
    Object.defineProperty(error, "stack", {
      get: () => {
        throw new Error("stack");
      },
    });
    const arrived = arrive(error);
    expect(arrived).toBeInstanceOf(TypeError);
    expect(arrived.message).toBe("real");
  });

  test("own properties named like prototype members arrive", () => {
    const error = new Error("p");
    for (const key of ["__proto__", "constructor", "toString"]) {
      Object.defineProperty(error, key, { value: { polluted: 1 }, enumerable: true });
    }
    const arrived = arrive(error);
    expect(arrived).toBeInstanceOf(Error);
    expect(Object.hasOwn(arrived, "__proto__")).toBe(true);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    // A class name that is none, forged in the bytes.
    const bytes = packError(currentRuntime, new RangeError("m"));
    const name = new TextEncoder().encode("RangeError");
    const at = [...bytes.keys()].find((start) =>
      name.every((byte, i) => bytes[start + i] === byte)
    )!;
    bytes.set(new TextEncoder().encode("constructr"), at);
    expect(Object.getPrototypeOf(unpackError(currentRuntime, bytes))).toBe(Error.prototype);
  });

  test("isError accepts only errors and DOMExceptions", () => {
    expect([new Error(), new DOMException()].every(isError)).toBe(true);
    for (const value of [null, undefined, "Error", { message: "m", stack: "s" }, () => {}]) {
      expect(isError(value)).toBe(false);
    }
  });
});
