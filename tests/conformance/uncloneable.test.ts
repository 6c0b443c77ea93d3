/** Objects marked by `markAsUncloneable` are refused, as by structured clone. */
import * as threads from "node:worker_threads";
import { beforeEach, describe, expect, test } from "vitest";
import { createPool, type Pool } from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/uncloneable-tasks.ts");

const url = new URL("../fixtures/uncloneable-tasks.ts", import.meta.url);
const REFUSED = "it is marked as uncloneable";

let pool: Pool<Tasks>;
beforeEach(() => {
  pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
});

function marked<Value extends object>(value: Value): Value {
  threads.markAsUncloneable(value);
  return value;
}

class Point {
  x = 1;
}

const kinds: Readonly<Record<string, () => object>> = {
  "an object": () => ({ a: 1 }),
  "an object without properties": () => ({}),
  "an object without prototype": () => Object.assign(Object.create(null) as object, { a: 1 }),
  "an instance of a class": () => new Point(),
  "an error": () => new TypeError("no"),
  "a Blob": () => new Blob(["abc"]),
  "an array": () => [1],
  "a Map": () => new Map([[1, 2]]),
  "a Set": () => new Set([1]),
  "a Date": () => new Date(5),
  "a RegExp": () => /a/,
  "an ArrayBuffer": () => new ArrayBuffer(8),
};

function isRefusedByClone(value: object): boolean {
  try {
    structuredClone(value);
    return false;
  } catch {
    return true;
  }
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

describe.runIf(capabilities.seesMarks)("what is marked", () => {
  describe.each(Object.entries(kinds))("%s", (_name, create) => {
    test("is refused if structured clone refuses it", async () => {
      const outcome = pool.call.echo(marked(create()));
      if (isRefusedByClone(marked(create()))) {
        await expect(outcome).rejects.toMatchObject({
          code: "HEDDLE_DATA_CLONE",
          message: expect.stringContaining("args[0] cannot be cloned: ") as string,
        });
      } else expect(tagOf(await outcome)).toBe(tagOf(create()));
      expect(tagOf(await pool.call.echo(create()))).toBe(tagOf(create()));
    });
  });

  test("is refused at any depth, by its path", async () => {
    const secret = marked({ a: 1 });
    const places: readonly (readonly [unknown, string])[] = [
      [{ list: [1, secret] }, "args[0].list[1]"],
      [[secret], "args[0][0]"],
      [new Map([["key", secret]]), "args[0]"],
      [Object.assign(new Point(), { secret }), "args[0].secret"],
    ];
    for (const [value, path] of places) {
      await expect(pool.call.echo(value)).rejects.toThrow(path);
      await expect(pool.call.echo(value)).rejects.toThrow(REFUSED);
    }
  });

  test("is refused among others with the same keys", async () => {
    const items = Array.from({ length: 300 }, (_, id) => ({ id, name: `n${id}` }));
    for (let round = 0; round < 3; round++) expect(await pool.call.echo(items)).toEqual(items);
    marked(items[200]!);
    await expect(pool.call.echo(items)).rejects.toThrow(
      `args[0][200] cannot be cloned: ${REFUSED}`,
    );
    await expect(pool.call.echo(items[200])).rejects.toThrow(REFUSED);
    expect(await pool.call.echo(items[201])).toEqual(items[201]);
  });

  test("can be transferred", async () => {
    const { port1, port2 } = new MessageChannel();
    expect(await pool.call.isPort.with({ transfer: [marked(port1)] })(port1)).toBe(true);
    port2.close();
  });

  test("a result is refused", async () => {
    await expect(pool.call.secret()).rejects.toThrow(REFUSED);
  });

  test("an error arrives without what is marked in it", async () => {
    const error = await pool.call.fail().catch((reason: unknown) => reason) as Error;
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe("no");
    expect(error.cause).toBeUndefined();
  });
});

test("a signal among the arguments is refused: the error says where it belongs", async () => {
  const { signal } = new AbortController();
  const hint = "pool.call.f.with({ signal })(…)";
  for (const value of [signal, { signal }]) {
    await expect(pool.call.echo(value)).rejects.toThrow(hint);
  }
});
