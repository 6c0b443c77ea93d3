import { expect, test } from "vitest";
import { Envelope } from "../../src/mod.ts";
import { testPool } from "../support/conformance.ts";
import { differences } from "../support/same.ts";

test("an Envelope arrives with its header and payload", async () => {
  const { call } = testPool();
  const body = new Uint8Array([1, 2, 3]).buffer;
  const header = { id: 1, tags: ["a", "b"] };
  const arrived = await call.echo(new Envelope(header, body)) as Envelope<
    typeof header,
    ArrayBuffer
  >;
  expect(arrived).toBeInstanceOf(Envelope);
  expect(differences(arrived.header, { id: 1, tags: ["a", "b"] })).toEqual([]);
  expect(arrived.payload).toBeInstanceOf(ArrayBuffer);
  expect([...new Uint8Array(arrived.payload)]).toEqual([1, 2, 3]);
});

test("an Envelope arrives beside other arguments and inside an object", async () => {
  const { call } = testPool();
  const envelope = new Envelope({ n: 1 }, new ArrayBuffer(4));
  const [number, nested] = await call.echoAll(1, { envelope }) as [
    number,
    { envelope: Envelope<{ n: number }, ArrayBuffer> },
  ];
  expect(number).toBe(1);
  expect(nested.envelope).toBeInstanceOf(Envelope);
  expect([nested.envelope.header, nested.envelope.payload.byteLength]).toEqual([{ n: 1 }, 4]);
});

test("an Envelope is recognized after an object that only has its prototype", async () => {
  const { call } = testPool();
  const envelope = new Envelope(1, 2);
  const copy = Object.assign(Object.create(Envelope.prototype) as object, envelope);
  for (const list of [[envelope, copy], [copy, envelope], [copy, copy, envelope]]) {
    const arrived = await call.echo(list) as object[];
    expect(arrived.map((one) => one instanceof Envelope)).toEqual(
      list.map((one) => one === envelope),
    );
    for (const one of arrived) expect({ ...one }).toEqual({ header: 1, payload: 2 });
  }
});
