/** Hostile bytes on every subject: nothing crashes, hangs or reserves memory, and other calls go on. */
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { HeddleError, ProtocolError, WorkerLostError } from "../../src/mod.ts";
import { connectPool, serve, type Server } from "../../src/mod-nats.ts";
import {
  bareMessage,
  BEGIN,
  CALL,
  HEADER_BYTES,
  type HeaderFields,
  readHeader,
  RESULT,
  writeHeader,
} from "../../src/nats/wire/frames.ts";
import { MessageCodec } from "../../src/nats/wire/message-codec.ts";
import { IncomingTransfers } from "../../src/nats/wire/transfers.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startServers } from "../support/nats.ts";
import { createRandom } from "../support/random.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const MIB = 2 ** 20;
const codec = new MessageCodec(currentRuntime, 16 * MIB);
const samples = (): Uint8Array[] => [
  codec.encode(CALL, ["echo", undefined], [{ a: [1, "b", new Date(0)] }], "args"),
  codec.encode(CALL, ["echo", { runTimeoutMs: 5 }], [new Map([[1, new Uint8Array(100)]])], "args"),
  codec.encode(RESULT, [], [new Uint8Array(100_000)], "result"),
  codec.encodeThrown(RESULT, new RangeError("x", { cause: [1] }), {}),
];

/** Changes some bytes of a message, or cuts it. */
function damage(message: Uint8Array, random: () => number): Uint8Array {
  const bytes = message.slice(
    0,
    random() < 0.2 ? Math.floor(random() * message.length) : undefined,
  );
  for (let changes = 1 + Math.floor(random() * 6); changes > 0 && bytes.length > 0; changes--) {
    // Mostly in the header and the first values, which have most of the structure.
    const span = random() < 0.8 ? Math.min(160, bytes.length) : bytes.length;
    bytes[Math.floor(random() * span)] = Math.floor(random() * 256);
  }
  return bytes;
}

/** A message of these numbers. */
function numbers(kind: number, fields: HeaderFields, values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 8 * values.length);
  writeHeader(bytes, kind, fields);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) {
    view.setFloat64(HEADER_BYTES + 8 * index, value, true);
  }
  return bytes;
}

describe("messages", () => {
  test("damaged bytes decode to values or to a coded error", () => {
    const random = createRandom(29);
    let refused = 0;
    for (let round = 0; round < 3000; round++) {
      for (const message of samples().slice(0, round < 500 ? 4 : 2)) {
        const bytes = damage(message, random);
        const header = readHeader(bytes);
        if (header === undefined) continue;
        try {
          codec.decode(bytes, header);
        } catch (error) {
          refused++;
          expect(error).toBeInstanceOf(HeddleError);
        }
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  test("memory that no byte of a message stands for is not reserved", () => {
    const growing = (buffers: readonly ArrayBuffer[]): number => {
      const resizable = buffers.filter(({ resizable }) => resizable);
      const bytes = resizable.map(({ byteLength, maxByteLength }) => maxByteLength - byteLength);
      expect(resizable.length).toBeLessThanOrEqual(32);
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(2 * MIB);
      return resizable.length;
    };
    for (const maximum of [0, 1, 2 ** 16, 2 * MIB, 2 ** 30, 2 ** 50, Infinity]) {
      for (const [count, part] of [[1, maximum], [40_000, maximum]] as const) {
        // As values: the tag RESIZABLE, the length, and the maximum.
        const values = Array.from({ length: 3 * count }, (_, index) => index % 3 === 2 ? part : 0);
        const bytes = numbers(CALL, { count, valueBytes: 24 * count }, values);
        const view = new DataView(bytes.buffer);
        for (let n = 0; n < count; n++) view.setUint32(HEADER_BYTES + 24 * n, 39, true);
        if (maximum < Infinity) {
          const isSmall = maximum <= 2 * MIB;
          const buffers = codec.decode(bytes, readHeader(bytes)!) as ArrayBuffer[];
          expect(growing(buffers) > 0).toBe(isSmall);
        }
        // Beside the values: a REF to each is not needed, since all are made at once.
        const attached = numbers(CALL, { count: 1, valueBytes: 8, attachments: count }, [
          0,
          ...Array.from({ length: count }, () => [0, part]).flat(),
        ]);
        new DataView(attached.buffer).setUint32(HEADER_BYTES, 29, true);
        const [first] = codec.decode(attached, readHeader(attached)!) as ArrayBuffer[];
        growing([first!]);
      }
    }
    const own = new ArrayBuffer(100_000, { maxByteLength: MIB });
    const small = new ArrayBuffer(8, { maxByteLength: 1000 });
    const message = codec.encode(RESULT, [], [[own, small]], "result");
    const [[large, little]] = codec.decode(message, readHeader(message)!) as [ArrayBuffer[]];
    expect([large!.maxByteLength, little!.maxByteLength]).toEqual([MIB, 1000]);
  });

  test("messages full of one kind of value decode to values or to a coded error", () => {
    for (let tag = 0; tag < 64; tag++) {
      for (const [flags, aux] of [[0, 0], [0, 1], [1, 0], [1, -1], [1 << 8, 1 << 30]] as const) {
        const count = 2000;
        const bytes = numbers(
          CALL,
          { count, valueBytes: 16 * count },
          new Array(2 * count).fill(9),
        );
        const view = new DataView(bytes.buffer);
        for (let n = 0; n < count; n++) {
          view.setInt32(HEADER_BYTES + 16 * n, tag | flags << 16, true);
          view.setInt32(HEADER_BYTES + 16 * n + 4, aux, true);
        }
        try {
          codec.decode(bytes, readHeader(bytes)!);
        } catch (error) {
          expect(error).toBeInstanceOf(HeddleError);
        }
      }
    }
  });

  test("announced sizes are checked before memory is reserved", () => {
    const transfers = new IncomingTransfers(MIB);
    const grants: number[] = [];
    for (const total of [NaN, Infinity, -1, 0.5, 2 ** 40]) {
      expect(() => transfers.begin("a 1", total, 0, () => {})).toThrow(ProtocolError);
    }
    expect(transfers.begin("a 1", MIB, 0, (chunks) => grants.push(chunks))).toBe(true);
    for (let n = 0; n < 3; n++) expect(transfers.begin(`b ${n}`, MIB, 0, () => {})).toBe(true);
    expect(transfers.begin("c 1", MIB, 0, () => {})).toBe(false);
    expect(() => transfers.chunk("a 1", 1, new Uint8Array(100), 0)).toThrow(WorkerLostError);
    expect(transfers.begin("c 1", MIB, 0, () => {})).toBe(true);
    expect(() => transfers.chunk("c 1", 0, new Uint8Array(2 * MIB), 0)).toThrow(ProtocolError);
    expect(grants).toEqual([8]);
    expect(transfers.dropStalled(1)).toHaveLength(3);
  });
});

describe.skipIf(noServer !== undefined)(`a server${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let server: Server;
  let connection: NatsConnection;
  const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);
  beforeAll(async () => {
    servers = await startServers(1);
    const { address } = servers[0]!;
    server = serve({
      servers: address,
      subject: "hostile",
      pool: { threads: 1 },
      terminates: false,
    })<Tasks>(tasks);
    await server.ready;
    connection = await connect({ servers: address });
  });
  afterAll(async () => {
    await connection?.close();
    await server?.shutdown();
    await servers?.stop();
  });

  test("a machine survives damaged requests on all of its subjects", async () => {
    const random = createRandom(30);
    const caller = connectPool({ servers: servers[0]!.address, subject: "hostile" })<Tasks>();
    let answers = 0;
    const inbox = `_INBOX.heddle.hostile`;
    connection.subscribe(`${inbox}.>`, { callback: () => void answers++ });
    for (let round = 0; round < 600; round++) {
      for (const message of [...samples().slice(0, 2), bareMessage(BEGIN, { number: 2 ** 50 })]) {
        const bytes = damage(message, random);
        const reply = random() < 0.1 ? "not..a subject >" : `${inbox}.${round}`;
        for (const subject of ["hostile.call", "hostile.all"]) {
          connection.publish(subject, bytes, reply.includes(" ") ? {} : { reply });
        }
      }
      if (round % 100 === 0) expect(await caller.call.add(round, 1)).toBe(round + 1);
    }
    await connection.flush();
    expect(await caller.call.echo("alive")).toBe("alive");
    expect(answers).toBeGreaterThan(100);
    expect(server.stats().pool.workersLost).toBe(0);
    await caller.shutdown();
  });

  test("a machine survives a message that claims far more memory than it has bytes", async () => {
    const caller = connectPool({ servers: servers[0]!.address, subject: "hostile" })<Tasks>();
    const call = codec.encode(CALL, ["echo", undefined], [1], "args");
    const { valueBytes } = readHeader(call)!;
    const count = 65_000;
    const bytes = new Uint8Array(call.length + 16 * count);
    bytes.set(call);
    writeHeader(bytes, CALL, { count: 3, valueBytes, attachments: count });
    const view = new DataView(bytes.buffer);
    for (let n = 0; n < count; n++) view.setFloat64(call.length + 16 * n + 8, 2 * MIB, true);
    const results = new Set<string>();
    connection.subscribe("_INBOX.heddle.claims.*", {
      callback: (_error, { subject, data }) => {
        if (readHeader(data)?.kind === RESULT) results.add(subject);
      },
    });
    for (let n = 0; n < 3; n++) {
      connection.publish("hostile.call", bytes, { reply: `_INBOX.heddle.claims.${n}` });
    }
    await connection.flush();
    await until(() => results.size === 3);
    expect(await caller.call.echo("alive")).toBe("alive");
    await caller.shutdown();
  });

  test("a caller survives damaged answers: each rejects its call alone", async () => {
    const random = createRandom(31);
    const [answer] = samples().slice(3) as [Uint8Array];
    connection.subscribe("liar.call", {
      callback: (_error, msg) => {
        const bytes = random() < 0.3 ? new Uint8Array(40).fill(7) : damage(answer, random);
        if (bytes.length > 1) bytes[1] = 1;
        msg.respond(bytes);
        msg.respond(bytes); // and again
        msg.respond(new Uint8Array([255, 1, 2]));
      },
    });
    await connection.flush();
    const caller = connectPool({
      servers: servers[0]!.address,
      subject: "liar",
      lostAfterMs: 300,
    })<Tasks>();
    const calls = Array.from({ length: 300 }, (_, n) => caller.call.add(n, 1));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes).toHaveLength(300);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThan(100);
    expect(caller.stats().inFlight).toBe(0);
    const loss = await rejection(caller.shutdown().then(() => caller.call.add(1, 2)));
    expect(loss).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });
});
