/** Values, sizes and moments at the edges: each costs one call at most, never a process or a slot. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DataCloneError,
  PayloadTooLargeError,
  PoolClosedError,
  WorkerLostError,
} from "../../src/mod.ts";
import { connectPool, type RemotePool, serve, type Server } from "../../src/mod-nats.ts";
import { bareMessage, BEGIN, BUSY, STREAM } from "../../src/nats/wire/frames.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startServers } from "../support/nats.ts";

type Tasks = typeof import("./edge-tasks.ts");
const tasks = new URL("./edge-tasks.ts", import.meta.url);

describe.skipIf(noServer !== undefined)(`edges${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let address: string;
  let server: Server;
  let pool: RemotePool<Tasks>;
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-edges-"));

  beforeAll(async () => {
    servers = await startServers(1, ["-js"]);
    address = servers[0]!.address;
    const options = { servers: address, subject: "edges", maxInFlight: 3000, terminates: false };
    server = serve({ ...options, pool: { threads: 2 }, durable: true })<Tasks>(tasks);
    await server.ready;
    pool = connectPool({ servers: address, subject: "edges" })<Tasks>();
  });
  afterAll(async () => {
    await pool?.shutdown();
    await server?.shutdown();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an event or a thrown value that cannot be sent rejects its call alone", async () => {
    const emitting = pool.call.emitShared.with({ onEvent: () => {} })();
    expect(await rejection(emitting)).toBeInstanceOf(DataCloneError);
    expect(await rejection(pool.call.throwShared().toArray())).toBeInstanceOf(DataCloneError);
    await until(() => server.stats().inFlight === 0);
    expect(await pool.call.echo(2)).toBe(2);
  });

  test("messages about many calls are not limited by maxPayloadBytes", async () => {
    const options = { servers: address, subject: "many", maxPayloadBytes: 1024 };
    const machine = serve({
      ...options,
      pool: { threads: 1 },
      maxInFlight: 3000,
      terminates: false,
    })<Tasks>(tasks);
    await machine.ready;
    const caller = connectPool({ ...options, lostAfterMs: 6000 })<Tasks>();
    const calls = Array.from({ length: 2500 }, () => caller.call.sleep(4500));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([4500]));
    await caller.shutdown();
    await machine.shutdown();
  });

  test("a refused large result leaves no slot taken", async () => {
    const caller = connectPool({
      servers: address,
      subject: "edges",
      maxPayloadBytes: 2 ** 20,
    })<Tasks>();
    expect(String(await rejection(caller.call.large(5_000_000)))).toContain("maxPayloadBytes");
    await until(() => server.stats().inFlight === 0);
    await caller.shutdown();
  });

  test("more large results than there is memory for wait for each other", async () => {
    const caller = connectPool({
      servers: address,
      subject: "edges",
      maxPayloadBytes: 3_000_000,
    })<Tasks>();
    const results = await Promise.all(
      Array.from({ length: 16 }, () => caller.call.large(2_900_000)),
    );
    expect(results.every((result) => result.length === 2_900_000)).toBe(true);
    await caller.shutdown();
  });

  test("large events arrive before what was sent after them", async () => {
    const events: unknown[] = [];
    const onEvent = (event: unknown): void => {
      events.push(typeof event === "string" ? event : (event as Uint8Array).length);
    };
    expect(await pool.call.emitLarge.with({ onEvent })(2_000_000)).toBe(1);
    expect(events).toEqual([2_000_000, "after"]);
  });

  test("an abort reaches its task also if the reason is too large to be sent", async () => {
    const controller = new AbortController();
    const call = pool.call.untilAborted.with({ signal: controller.signal })(undefined);
    await until(() => server.stats().inFlight === 1);
    const reason = new Error("x".repeat(1_100_000));
    controller.abort(reason);
    expect(await rejection(call)).toBe(reason);
    await until(() => server.stats().inFlight === 0);
    await until(() => server.stats().pool.inFlight === 0);
  });

  test("a late answer to a refused attempt is not for the next one", async () => {
    const connection = await connect({ servers: address });
    connection.subscribe("refusing.call", {
      callback: (_error, { reply }) => {
        for (const kind of [BUSY, STREAM]) {
          connection.publish(reply!, bareMessage(kind, { word: 1 }));
        }
      },
    });
    await connection.flush();
    const caller = connectPool({ servers: address, subject: "refusing" })<Tasks>();
    const call = rejection(caller.call.echo(1));
    await until(() => connection.stats().outMsgs > 10);
    await caller.shutdown(0);
    expect(await call).toBeInstanceOf(PoolClosedError);
    await connection.close();
  });

  test("a call is not sent again because its machine is gone when it is to be told something", async () => {
    const connection = await connect({ servers: address });
    let requests = 0;
    connection.subscribe("gone.call", {
      callback: (_error, { reply }) => {
        requests++;
        // Nobody listens to what it is answered, as after the death of a machine.
        const announced = { sender: 5, count: 1, number: 2_000_000 };
        connection.publish(reply!, bareMessage(BEGIN, announced));
      },
    });
    await connection.flush();
    const caller = connectPool({ servers: address, subject: "gone", lostAfterMs: 3000 })<Tasks>();
    expect(await rejection(caller.call.echo(1))).toBeInstanceOf(WorkerLostError);
    expect(requests).toBe(1);
    await caller.shutdown();
    await connection.close();
  });

  test("a stream that is ended before a machine is known is not sent again", async () => {
    const connection = await connect({ servers: address });
    let requests = 0;
    connection.subscribe("silent.call", { callback: () => void requests++ });
    await connection.flush();
    const caller = connectPool({ servers: address, subject: "silent", lostAfterMs: 3000 })<Tasks>();
    const rows = (caller as unknown as RemotePool<{ rows(): AsyncGenerator<number> }>).call.rows();
    await until(() => requests === 1);
    await rejection(rows.return());
    expect(requests).toBe(1);
    await caller.shutdown();
    await connection.close();
  });

  test("a durable call whose outcome is too large runs once and rejects", async () => {
    const file = join(folder, "large");
    const result = await pool.enqueue.noteLarge([file, 2_000_000]);
    expect(await rejection(pool.result(result))).toBeInstanceOf(PayloadTooLargeError);
    expect(readFileSync(file, "utf8")).toBe("run\n");
    const error = await pool.enqueue.failLarge([1_100_000], { retries: 0 });
    expect(await rejection(pool.result(error))).toBeInstanceOf(PayloadTooLargeError);
  });

  test("subjects that differ in a dot have stores of their own", async () => {
    const connection = await connect({ servers: address });
    const manager = await jetstreamManager(connection);
    for (const subject of ["store.a", "store_a", "store_-a"]) {
      const caller = connectPool({ servers: address, subject })<Tasks>();
      await caller.enqueue.sleep([1], { id: "same" });
      await caller.shutdown();
    }
    for (const name of ["store_-a", "store__a", "store__-a"]) {
      expect((await manager.streams.info(`HEDDLE_${name}`)).state.messages).toBe(1);
    }
    await connection.close();
  });

  test("shutdown does not wait for a server that is not there", async () => {
    const options = {
      servers: "127.0.0.1:1",
      subject: "nowhere",
      connection: { waitOnFirstConnect: true },
    };
    const caller = connectPool(options)<Tasks>();
    const call = rejection(caller.call.echo(1));
    await caller.shutdown(20);
    expect(await call).toBeInstanceOf(PoolClosedError);
    const machine = serve({ ...options, pool: { threads: 1 }, terminates: false })<Tasks>(tasks);
    await machine.shutdown(20);
    await machine.stopped;
  });

  test("a closed connection ends a machine without discovery", async () => {
    const single = await startServers(1);
    const machine = serve({
      servers: single[0]!.address,
      subject: "closed",
      pool: { threads: 1 },
      discovery: false,
      terminates: false,
      connection: { maxReconnectAttempts: 1, reconnectTimeWait: 20 },
    })<Tasks>(tasks);
    await machine.ready;
    await single.stop();
    await machine.stopped;
    expect(machine.stats().pool.ready).toBe(0);
    await machine.shutdown();
  });
});
