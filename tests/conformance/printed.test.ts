/** Objects of heddle say what they are when they are printed. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createPool } from "../../src/mod.ts";
import {
  AtomicCounter,
  AtomicFlag,
  channel,
  Mutex,
  SharedCache,
  SharedMap,
  SharedVector,
} from "../../src/mod-shared.ts";
import { closedAfterTest } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);

/** What is printed of an object, of one within another, of one that inherits from it and of a proxy. */
function printed(object: object): string {
  const text = inspect(object);
  expect(inspect({ object })).toContain(text);
  for (const other of [Object.create(object) as unknown, new Proxy(object, {})]) {
    expect(inspect(other)).toBeTypeOf("string");
  }
  expect(inspect(Object.getPrototypeOf(object))).toBeTypeOf("string");
  return text;
}

test("results of map(), streams and scopes", async () => {
  const pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
  await pool.ready;
  const results = pool.map(pool.call.square, [1, 2]);
  expect(printed(results)).toBe("MappedResults (not begun: await it, or read it by for await)");
  await results;
  expect(printed(results)).toBe("MappedResults (begun)");
  const stream = pool.call.count(0, 3);
  expect(printed(stream)).toBe("ResultStream (not read yet: read it by for await or toArray())");
  await stream.toArray();
  expect(printed(stream)).toBe("ResultStream (begun)");
  const scope = pool.scope();
  expect(printed(scope)).toBe("Scope (open)");
  await scope.close();
  expect(printed(scope)).toBe("Scope (closed)");
});

test("shared objects", () => {
  const [sender, receiver] = channel<number>();
  const objects = [
    new SharedMap(),
    new SharedCache(),
    new SharedVector("f64"),
    new Mutex(),
    new AtomicCounter(),
    new AtomicFlag(),
    sender,
    receiver,
  ];
  expect(objects.map(printed)).toEqual([
    "SharedMap (shared by threads)",
    "SharedCache (shared by threads)",
    "SharedVector (shared by threads)",
    "Mutex (shared by threads)",
    "AtomicCounter (shared by threads)",
    "AtomicFlag (shared by threads)",
    "Sender (of a channel; open)",
    "Receiver (of a channel; open)",
  ]);
  sender.close();
  expect(printed(sender)).toBe("Sender (of a channel; closed)");
});
