/** Durable calls while servers, machines and parts of the store are away: none is lost, and none runs twice without need. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstream, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  connectPool,
  NoMachinesError,
  type RemotePool,
  serve,
  type Server,
} from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startMachine, startServers } from "../support/nats.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);

describe.skipIf(noServer !== undefined)(`JetStream${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let address: string;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let subjects = 0;
  const open: (RemotePool<Tasks> | Server)[] = [];
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-faults-"));
  const file = (name: string): string => join(folder, name);
  const lines = (name: string): string[] => {
    try {
      return readFileSync(file(name), "utf8").split("\n").slice(0, -1);
    } catch {
      return [];
    }
  };

  const newSubject = (): string => `faults${++subjects}`;
  const caller = (subject: string, options: object = {}): RemotePool<Tasks> => {
    const pool = connectPool({ servers: address, subject, ...options })<Tasks>();
    open.push(pool);
    return pool;
  };
  const machine = async (subject: string, options: object = {}): Promise<Server> => {
    const server = serve({
      servers: address,
      subject,
      pool: { threads: 1 },
      terminates: false,
      durable: true,
      ...options,
    })<Tasks>(tasks);
    open.push(server);
    await server.ready;
    return server;
  };
  const stored = async (stream: string): Promise<number> =>
    (await manager.streams.info(stream)).state.messages;

  beforeAll(async () => {
    servers = await startServers(1, ["-js"]);
    address = servers[0]!.address;
    connection = await connect({
      servers: address,
      reconnectTimeWait: 50,
      maxReconnectAttempts: -1,
    });
    manager = await jetstreamManager(connection);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.shutdown(0)));
  });
  afterAll(async () => {
    await connection?.close();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a machine renews calls as often as the consumer demands, whoever has set it up", async () => {
    const subject = newSubject();
    const pool = caller(subject, { durable: { ackWaitMs: 300 } });
    const id = await pool.enqueue.record([file("renewed"), "x", 1500]);
    await machine(subject, { pool: { threads: 2 } }); // its own ackWaitMs is 30 s
    expect(await pool.result(id)).toBe("done x");
    expect(lines("renewed")).toEqual(["x"]);
  });

  test("a machine takes no more calls than it has threads", async () => {
    const subject = newSubject();
    const pool = caller(subject);
    const go = file("threads-go");
    const ids = await Promise.all(
      Array.from({ length: 5 }, (_, n) => pool.enqueue.recordUntil([file("threads"), `${n}`, go])),
    );
    await machine(subject);
    await until(() => lines("threads").length === 1);
    await pause(50);
    const { num_ack_pending } = await manager.consumers.info(`HEDDLE_${subject}`, "heddle");
    expect(num_ack_pending).toBe(1);
    writeFileSync(go, "");
    for (const [n, id] of ids.entries()) expect(await pool.result(id)).toBe(`done ${n}`);
  });

  test("an id is a key while its call waits, however long ago it was stored", async () => {
    const subject = newSubject();
    await manager.streams.add({
      name: `HEDDLE_${subject}`,
      subjects: [`${subject}.durable`],
      retention: "workqueue",
      duplicate_window: 100_000_000, // the server forgets the ids of messages after 0.1 s
    });
    const pool = caller(subject);
    const id = await pool.enqueue.record([file("twice"), "x"], { id: "x" });
    const delayed = { id: "y", delayMs: 900 };
    await pool.enqueue.record([file("twice"), "y"], delayed);
    await pause(250);
    await pool.enqueue.record([file("twice"), "x"], { id: "x" });
    expect(await stored(`HEDDLE_${subject}`)).toBe(2);
    await machine(subject, { pool: { threads: 4 } });
    expect(await pool.result(id)).toBe("done x");
    await pool.enqueue.record([file("twice"), "y"], delayed);
    expect(await pool.result("y")).toBe("done y");
    let left = 1; // the second call of "y"
    await until(() => left === 0, async () => left = await stored(`HEDDLE_${subject}`));
    expect(lines("twice").sort()).toEqual(["x", "y"]);
  });

  test("any number of delayed calls lets others run, also in a queue of an earlier version", async () => {
    const subject = newSubject();
    const stream = `HEDDLE_${subject}`;
    await manager.streams.add({
      name: stream,
      subjects: [`${subject}.durable`],
      retention: "workqueue",
    });
    await manager.consumers.add(stream, {
      durable_name: "heddle",
      ack_policy: "explicit",
      ack_wait: 7_000_000_000,
      max_ack_pending: 3,
    });
    await machine(subject);
    const pool = caller(subject);
    for (let n = 0; n < 5; n++) await pool.enqueue.add([n, n], { delayMs: 3_600_000 });
    expect(await pool.result(await pool.enqueue.add([1, 2]))).toBe(3);
    const { config } = await manager.consumers.info(stream, "heddle");
    expect(config.ack_wait).toBe(7_000_000_000);
  });

  test("a call whose id had a result that was deleted runs", async () => {
    const subject = newSubject();
    await machine(subject);
    const pool = caller(subject);
    expect(await pool.result(await pool.enqueue.add([1, 2], { id: "again" }))).toBe(3);
    const results = await new Kvm(connection).open(`heddle_${subject}`);
    await results.delete("again");
    expect(await pool.result(await pool.enqueue.add([3, 4], { id: "again" }))).toBe(7);
  });

  test("a call fails also if its dead letter cannot be stored", async () => {
    const subject = newSubject();
    const dead = `HEDDLE_${subject}_DEAD`;
    await machine(subject);
    const pool = caller(subject);
    expect(await pool.result(await pool.enqueue.add([1, 2]))).toBe(3);
    await manager.streams.delete(dead);
    const failing = await pool.enqueue.fail(["no"], { retries: 0 });
    expect(await rejection(pool.result(failing))).toMatchObject({ message: "no" });
    expect(await stored(dead)).toBe(1); // the stream was created again
    const { config } = await manager.streams.info(dead);
    await manager.streams.update(dead, { ...config, max_msg_size: 10 });
    const other = await pool.enqueue.fail(["no"], { retries: 0 });
    expect(await rejection(pool.result(other))).toMatchObject({ message: "no" });
  });

  test("garbage of any size ends as a dead letter", async () => {
    const subject = newSubject();
    await machine(subject);
    for (const bytes of [0, 31, 2 ** 20]) {
      connection.publish(`${subject}.durable`, new Uint8Array(bytes));
    }
    let dead = 0;
    await until(() => dead === 3, async () => dead = await stored(`HEDDLE_${subject}_DEAD`));
    let left = 1;
    await until(() => left === 0, async () => left = await stored(`HEDDLE_${subject}`));
  });

  /** Puts a call into the queue that `change` has damaged, as often delivered as `deliveries` says. */
  const damaged = async (
    subject: string,
    id: string,
    change: (call: Uint8Array) => void,
    deliveries = 0,
  ): Promise<RemotePool<Tasks>> => {
    const pool = caller(subject, { durable: { ackWaitMs: 300 } });
    const calls = connection.subscribe(`${subject}.durable.=.sample`, { max: 1 });
    await connection.flush();
    await pool.enqueue.add([1, 2], { id: "sample", retries: 1 });
    const { value: sample } = await calls[Symbol.asyncIterator]().next();
    await manager.streams.purge(`HEDDLE_${subject}`);
    const call = sample!.data.slice();
    change(call);
    await connection.request(`${subject}.durable.=.${id}`, call);
    const consumer = await jetstream(connection).consumers.get(`HEDDLE_${subject}`, "heddle");
    for (let n = 0; n < deliveries; n++) (await consumer.next({ expires: 5000 }))!.nak();
    return pool;
  };

  test("a call of another version of the protocol is a dead letter, and its caller is told", async () => {
    const subject = newSubject();
    const pool = await damaged(subject, "later", (call) => void (call[1] = 2));
    await machine(subject);
    const error = await rejection(pool.result("later"));
    expect(error).toMatchObject({
      code: "HEDDLE_PROTOCOL",
      message: expect.stringMatching(/version 2 .* version 1/),
    });
    expect(await stored(`HEDDLE_${subject}_DEAD`)).toBe(1);
  });

  test("a call that cannot be decoded fails for its caller", async () => {
    const subject = newSubject();
    const pool = await damaged(subject, "bad", (call) => void call.fill(0xff, 72));
    await machine(subject);
    expect(await rejection(pool.result("bad"))).toMatchObject({ code: "HEDDLE_PROTOCOL" });
  });

  test("a call that ended its machines is a dead letter without being decoded", async () => {
    const subject = newSubject();
    // What cannot be decoded stands for what ends a machine.
    const pool = await damaged(subject, "poison", (call) => void call.fill(0xff, 72), 2);
    await machine(subject);
    const error = await rejection(pool.result("poison"));
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await stored(`HEDDLE_${subject}_DEAD`)).toBe(1);
  });

  test("a task that a machine does not have waits for one that has it", async () => {
    const subject = newSubject();
    const none = new URL("data:text/javascript,export const other = () => 1;");
    const old = serve({ servers: address, subject, terminates: false, durable: true })(none);
    open.push(old);
    await old.ready;
    const pool = caller(subject);
    const ids = await Promise.all(
      Array.from({ length: 3 }, (_, n) => pool.enqueue.add([n, 1], { retries: 0 })),
    );
    await pause(100);
    await machine(subject);
    for (const [n, id] of ids.entries()) expect(await pool.result(id)).toBe(n + 1);
  });

  test("a machine that stops gives its calls back at once", async () => {
    const subject = newSubject();
    const pool = caller(subject);
    const first = await machine(subject);
    const go = file("stop-go");
    const id = await pool.enqueue.recordUntil([file("stop"), "x", go], { retries: 0 });
    await until(() => lines("stop").length === 1);
    await first.shutdown(0);
    let taken = 1;
    await until(() => taken === 0, async () => {
      taken = (await manager.consumers.info(`HEDDLE_${subject}`, "heddle")).num_ack_pending;
    });
    expect(await stored(`HEDDLE_${subject}`)).toBe(1);
    writeFileSync(go, "");
    await machine(subject);
    expect(await pool.result(id)).toBe("done x");
    expect(lines("stop")).toEqual(["x", "x"]);
  });

  test("a machine that was suspended goes on with its calls", async () => {
    const subject = newSubject();
    const pool = caller(subject, { lostAfterMs: 60_000 });
    const durable = { ackWaitMs: 400 };
    const options = { servers: address, subject, durable, pool: { threads: 2 } };
    const suspended = await startMachine("suspended", options);
    const pid = await pool.call.pid();
    const go = file("suspended-go");
    const id = await pool.enqueue.recordUntil([file("suspended"), "x", go], { retries: 0 });
    await until(() => lines("suspended").length === 1);
    process.kill(pid, "SIGSTOP");
    await pause(1200);
    process.kill(pid, "SIGCONT");
    await pause(600);
    writeFileSync(go, "");
    expect(await pool.result(id)).toBe("done x");
    expect(lines("suspended")).toEqual(["x"]);
    await suspended.kill();
  });

  test("a task that ends while the server is away has ended", async () => {
    const subject = newSubject();
    const pool = caller(subject, { durable: { ackWaitMs: 400 } });
    await machine(subject);
    const id = await pool.enqueue.record([file("away"), "x", 600], { retries: 0 });
    await until(() => lines("away").length === 1);
    await servers[0]!.kill();
    const early = pool.result(id, { timeoutMs: 60_000 });
    await pause(1500);
    await servers[0]!.restart();
    expect(await early).toBe("done x");
    expect(await pool.result(id)).toBe("done x");
    expect(lines("away")).toEqual(["x"]);
  });

  test("enqueue tells that the server does not answer, by a code", async () => {
    const pool = caller(newSubject(), { machineWaitMs: 200 });
    await pool.enqueue.add([1, 2], { id: "known" });
    await servers[0]!.kill();
    const error = await rejection(pool.enqueue.add([1, 2], { id: "new" }));
    await servers[0]!.restart();
    expect(error).toBeInstanceOf(NoMachinesError);
    expect(String(error)).toContain('"new"');
  });

  test("a store that was wiped is made whole again", async () => {
    const subject = newSubject();
    await machine(subject);
    const pool = caller(subject);
    expect(await pool.result(await pool.enqueue.add([1, 2]))).toBe(3);
    await servers[0]!.kill();
    await servers[0]!.restart(true);
    let id: string | undefined;
    await until(() => id !== undefined, async () => {
      id = await pool.enqueue.add([2, 3]).catch(() => undefined);
    });
    expect(await pool.result(id!)).toBe(5);
    const failing = await pool.enqueue.fail(["no"], { retries: 0 });
    expect(await rejection(pool.result(failing))).toMatchObject({ message: "no" });
    expect(await stored(`HEDDLE_${subject}_DEAD`)).toBe(1);
  });
});
