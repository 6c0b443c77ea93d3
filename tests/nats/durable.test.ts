/** Durable work: calls kept by JetStream, run at least once, recorded once. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { join } from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DataCloneError,
  InvalidArgumentError,
  PayloadTooLargeError,
  TimeoutError,
  UnknownTaskError,
} from "../../src/mod.ts";
import { connectPool, type RemotePool, serve, type Server } from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startMachine, startServers } from "../support/nats.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);

describe.skipIf(noServer !== undefined)(`JetStream${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let address: string;
  let server: Server;
  let pool: RemotePool<Tasks>;
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-durable-"));
  const file = (name: string): string => join(folder, name);
  const lines = (name: string): string[] => {
    try {
      return readFileSync(file(name), "utf8").split("\n").slice(0, -1);
    } catch {
      return [];
    }
  };

  beforeAll(async () => {
    servers = await startServers(1, ["-js"]);
    address = servers[0]!.address;
    server = serve({
      servers: address,
      subject: "durable.tests",
      pool: { threads: 2 },
      terminates: false,
      durable: { taskWaitMs: 500 },
    })<Tasks>(tasks);
    await server.ready;
    pool = connectPool({ servers: address, subject: "durable.tests" })<Tasks>();
  });
  afterAll(async () => {
    await pool?.shutdown();
    await server?.shutdown();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a call runs and its result is kept", async () => {
    const id = await pool.enqueue.record([file("one"), "one"]);
    expect(await pool.result(id)).toBe("done one");
    expect(await pool.result(id)).toBe("done one");
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, n) => pool.enqueue.add([n, n], { id: `sum-${n}` })),
    );
    const sums = await Promise.all(ids.map((each) => pool.result(each)));
    expect(sums).toEqual(Array.from({ length: 50 }, (_, n) => 2 * n));
    const rich = await pool.enqueue.echo([new Map([["a", new Uint8Array(100_000)]])]);
    expect(await pool.result(rich)).toEqual(new Map([["a", new Uint8Array(100_000)]]));
  });

  test("a second call of the same id is dropped", async () => {
    for (let n = 0; n < 3; n++) {
      expect(await pool.enqueue.record([file("same"), "same"], { id: "same" })).toBe("same");
    }
    expect(await pool.result("same")).toBe("done same");
    await pool.result(await pool.enqueue.record([file("same"), "after"]));
    expect(lines("same")).toEqual(["same", "after"]);
  });

  test("a delayed call waits, and holds up no other", async () => {
    const madeAt = Date.now();
    const slow = await pool.enqueue.record([file("order"), "delayed"], { delayMs: 1000 });
    const fast = await pool.enqueue.record([file("order"), "immediate"]);
    expect(await pool.result(fast)).toBe("done immediate");
    expect(await pool.result(slow)).toBe("done delayed");
    expect(Date.now() - madeAt).toBeGreaterThanOrEqual(1000);
    expect(lines("order").sort()).toEqual(["delayed", "immediate"]);
  });

  test("deliveries that are lost before a delayed call runs are no runs", async () => {
    const options = { servers: address, subject: "durable.lost", durable: { ackWaitMs: 3000 } };
    const caller = connectPool(options)<Tasks>();
    const delay = 7000;
    const madeAt = Date.now();
    const once = await caller.enqueue.record([file("lost"), "once"], {
      delayMs: delay,
      retries: 0,
    });
    const failing = await caller.enqueue.recordAndFail([file("failures"), "x"], {
      delayMs: delay,
      retries: 1,
    });
    // A machine that takes both twice, and dies.
    const connection = await connect({ servers: address });
    const consumer = await jetstream(connection).consumers.get("HEDDLE_durable_-lost", "heddle");
    for (let taken = 0; taken < 4;) {
      const batch = await consumer.fetch({ max_messages: 4 - taken, expires: 1000 });
      try {
        for await (const _ of batch) taken++;
      } catch {
        // A busy server may miss its heartbeats.
      }
    }
    await connection.close();
    const machine = serve({ ...options, pool: { threads: 1 }, terminates: false })<Tasks>(tasks);
    await machine.ready;
    expect(await caller.result(once)).toBe("done once");
    expect(Date.now() - madeAt).toBeGreaterThanOrEqual(delay);
    expect(await rejection(caller.result(failing))).toMatchObject({ message: "failed x" });
    expect(lines("failures")).toEqual(["x", "x"]);
    await caller.shutdown();
    await machine.shutdown();
  });

  test("a call that keeps failing is a dead letter with its last error", async () => {
    const id = await pool.enqueue.recordAndFail([file("failing"), "x"], { retries: 2 });
    const error = await rejection(pool.result(id));
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: "failed x" });
    expect(lines("failing")).toEqual(["x", "x", "x"]);
    const connection = await connect({ servers: address });
    const manager = await jetstreamManager(connection);
    const dead = async () =>
      (await manager.streams.info("HEDDLE_durable_-tests_DEAD")).state.messages;
    expect(await dead()).toBe(1); // before the result was recorded
    await connection.close();
  });

  test("a stream, an unknown task and wrong options are refused", async () => {
    const stream = await pool.enqueue.count([3], { retries: 0 });
    expect(await rejection(pool.result(stream))).toBeInstanceOf(InvalidArgumentError);
    const readable = new Readable({ read() {} });
    expect(await rejection(pool.enqueue.echo([readable]))).toBeInstanceOf(DataCloneError);
    await until(() => readable.destroyed);
    const promised = new Readable({ read() {} });
    expect(await rejection(pool.enqueue.echo([Promise.resolve(promised)])))
      .toBeInstanceOf(DataCloneError);
    await until(() => promised.destroyed);
    const source = { [Symbol.asyncIterator]: () => pool.call.count(1)[Symbol.asyncIterator]() };
    const refused = await rejection(pool.enqueue.echo([source]));
    expect(refused).toBeInstanceOf(DataCloneError);
    expect((refused as Error).message).toContain("args[0]");
    const { enqueue } = pool as unknown as RemotePool<Record<string, () => void>>;
    const unknown = await enqueue["nothing"]!([], { retries: 0 });
    expect(await rejection(pool.result(unknown))).toBeInstanceOf(UnknownTaskError);
    expect(await rejection(pool.enqueue.add([1, 2], { id: "a b" })))
      .toBeInstanceOf(InvalidArgumentError);
    expect(await rejection(pool.enqueue.add([1, 2], { retry: 1 } as never)))
      .toBeInstanceOf(InvalidArgumentError);
    expect(await rejection(pool.result("never", { timeoutMs: 50 }))).toBeInstanceOf(
      TimeoutError,
    );
  });

  test("arguments and results that do not fit a message name max_payload", async () => {
    const result = await pool.enqueue.zeros([2 ** 21]);
    for (const call of [pool.enqueue.echo([new Uint8Array(2 ** 21)]), pool.result(result)]) {
      const error = await rejection(call) as PayloadTooLargeError;
      expect(error).toBeInstanceOf(PayloadTooLargeError);
      expect(error.maxBytes).toBe(2 ** 20 - 512);
      expect(error.bytes).toBeGreaterThan(2 ** 21);
      expect(error.message).toBe(
        `A payload of at least ${error.bytes} bytes exceeds the limit of 1048064 ` +
          "(max_payload of the NATS server, less 512 bytes for headers).",
      );
    }
    const fits = await pool.enqueue.echo([new Uint8Array(2 ** 20 - 1024)]);
    expect(await pool.result(fits)).toHaveLength(2 ** 20 - 1024);
  });

  test("a call waits for a machine, and outlives its caller and a killed machine", async () => {
    const options = {
      servers: address,
      subject: "durable.deaths",
      durable: { ackWaitMs: 2000 },
    };
    const caller = connectPool(options)<Tasks>();
    const id = await caller.enqueue.recordUntil([file("deaths"), "long", file("go")], {
      id: "long",
    });
    await caller.shutdown();
    const first = await startMachine("first", options);
    await until(() => lines("deaths").length >= 1);
    await first.kill();
    writeFileSync(file("go"), "");
    const second = await startMachine("second", options, "bun");
    const reader = connectPool(options)<Tasks>();
    expect(await reader.result(id)).toBe("done long");
    // More often if a machine was too busy to renew it.
    expect(lines("deaths").length).toBeGreaterThanOrEqual(2);
    await reader.shutdown();
    await second.kill();
  });

  test("machines create a queue again that was deleted", async () => {
    const connection = await connect({ servers: address });
    const manager = await jetstreamManager(connection);
    await manager.streams.delete("HEDDLE_durable_-tests");
    let id: string | undefined;
    while (id === undefined) id = await pool.enqueue.add([2, 3]).catch(() => undefined);
    expect(await pool.result(id)).toBe(5);
    await connection.close();
  });
});
