/** `maxPayloadBytes`. */
import { afterEach, describe, expect, test } from "vitest";
import { transfer } from "../../src/mod.ts";
import { createMovingPool, type MovingPool } from "../fixtures/transfer-tasks.ts";
import { rejection, testPool } from "../support/conformance.ts";

const open = new Set<MovingPool>();

function pool(options: Parameters<typeof createMovingPool>[0] = {}): MovingPool {
  const made = createMovingPool(options);
  open.add(made);
  return made;
}

afterEach(async () => {
  const pools = [...open];
  open.clear();
  for (const each of pools) {
    await each.shutdown(100);
    const { safetyHits, inFlight } = each.stats();
    expect({ safetyHits, inFlight }).toEqual({ safetyHits: 0, inFlight: 0 });
  }
});

const cyclic: { self?: unknown; list: unknown[] } = { list: [] };

cyclic.self = cyclic;

cyclic.list.push(cyclic);

const sparse: unknown[] = [1];

sparse[2] = 3;

describe("maxPayloadBytes", () => {
  test("does not count heddle's own records", async () => {
    const made = pool({ maxPayloadBytes: 400, ringBytes: 4096 });
    const objects = Array.from({ length: 60 }, (_, n) => ({ [`key ${n}`]: n, [`more ${n}`]: n }));
    const calls = [...objects, ...objects].map((object) => made.call.echo(object)); // held
    expect(await Promise.all(calls)).toEqual([...objects, ...objects]);
    expect(await Promise.all(objects.map((each) => made.call.echo(each)))).toEqual(objects);
    await rejection(made.call.exit()); // the next worker is told all of it anew
    for (const object of objects) expect(await made.call.echo(object)).toEqual(object);
  });

  test("rejects only larger arguments and results", async () => {
    const { call } = pool({ maxPayloadBytes: 1000, ringBytes: 4096 });
    const values = [
      "x".repeat(2000),
      new Uint8Array(5000),
      new Uint8Array(500_000),
      Buffer.alloc(100_000),
      Array.from({ length: 100 }, () => ({ a: "b" })),
    ];
    for (const large of values) {
      expect(await rejection(call.echo(large))).toMatchObject({
        name: "PayloadTooLargeError",
        code: "HEDDLE_PAYLOAD_TOO_LARGE",
        maxBytes: 1000,
      });
    }
    expect(await rejection(call.makeText(3000))).toMatchObject({
      code: "HEDDLE_PAYLOAD_TOO_LARGE",
    });
    expect(await call.makeText(900)).toHaveLength(900);
    expect(await call.echo("x".repeat(900))).toBe("x".repeat(900));
    // What moves takes no memory.
    expect(await call.takeAndGive(transfer(new Uint8Array(100_000)))).toHaveLength(100_000);
  });
});

describe("maxPayloadBytes", () => {
  test("counts encoded sizes in every ring, including resolved promises", async () => {
    const record = (seed: number) =>
      Object.fromEntries(Array.from({ length: 24 }, (_, key) => [`key${key}`, seed + key]));
    for (const ringBytes of [4096, 2 ** 20]) {
      const { call, ready } = testPool({ maxPayloadBytes: 1040, ringBytes });
      await ready;
      for (let time = 0; time < 4; time++) await call.echo(record(time)); // its keys are sent once
      const records = Array.from({ length: 5 }, (_, row) => record(row));
      for (let time = 0; time < 4; time++) expect(await call.echo(records)).toEqual(records);
    }
    const { call } = testPool({ maxPayloadBytes: 100_000 });
    const large = () => new Uint8Array(80_000);
    expect(await call.count(large(), 1)).toBe(2);
    for (const other of [large(), Promise.resolve(large())]) {
      const refused = rejection(call.count(large(), other));
      expect(await refused).toMatchObject({ code: "HEDDLE_PAYLOAD_TOO_LARGE" });
    }
  });
});
