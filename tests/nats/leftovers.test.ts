/** What durable operations leave on the NATS server: results and dead letters, and nothing that grows with their number. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PoolClosedError, TimeoutError } from "../../src/mod.ts";
import { connectPool, type RemotePool, serve, type Server } from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startServers } from "../support/nats.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);
const SUBJECT = "leftovers";
const RESULTS = `KV_heddle_${SUBJECT}`;
const CALLS = `HEDDLE_${SUBJECT}`;
const DEAD = `HEDDLE_${SUBJECT}_DEAD`;
const JOBS = 3000;

interface Leftovers {
  /** Calls that are stored, and those of them that a machine has. */
  readonly calls: number;
  readonly unacknowledged: number;
  /** Consumers of all streams. */
  readonly consumers: number;
  /** Subscriptions of the pool and of the machine. */
  readonly subscriptions: number;
}

describe.skipIf(noServer !== undefined)(`JetStream${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let options: { readonly servers: string; readonly subject: string };
  let server: Server;
  let pool: RemotePool<Tasks>;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let before: Leftovers;
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-leftovers-"));
  const file = (name: string): string => join(folder, name);

  beforeAll(async () => {
    servers = await startServers(1, ["-js", "-m", "-1"]);
    options = { servers: servers[0]!.address, subject: SUBJECT };
    server = serve({
      ...options,
      pool: { threads: 2 },
      terminates: false,
      durable: true,
    })<Tasks>(tasks);
    await server.ready;
    pool = connectPool(options)<Tasks>();
    connection = await connect({ servers: options.servers, name: "observer" });
    manager = await jetstreamManager(connection);
    await pool.result(await pool.enqueue.add([1, 2]));
    before = await settled();
  });
  afterAll(async () => {
    await connection?.close();
    await pool?.shutdown();
    await server?.shutdown();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const state = async (stream: string) => (await manager.streams.info(stream)).state;

  async function read(): Promise<Leftovers> {
    const port = /http monitor on (127\.0\.0\.1:\d+)/.exec(servers[0]!.output())![1];
    const { connections } = await (await fetch(`http://${port}/connz?limit=10000`)).json() as {
      readonly connections: readonly { readonly name: string; readonly subscriptions: number }[];
    };
    const streams = await Promise.all([CALLS, DEAD, RESULTS].map(state));
    return {
      calls: streams[0]!.messages,
      unacknowledged: (await manager.consumers.info(CALLS, "heddle")).num_ack_pending,
      consumers: streams.reduce((sum, { consumer_count }) => sum + consumer_count, 0),
      subscriptions: connections.filter(({ name }) => name === "heddle")
        .reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    };
  }

  /**
   * Waits until no call is stored and the machines' consumer is the only one. Throws if that never comes true. The machine
   * opens a subscription for each pull, and may be between two.
   */
  async function settled(mayHave = Infinity): Promise<Leftovers> {
    let left = await read();
    await until(
      () =>
        left.calls === 0 && left.unacknowledged === 0 && left.consumers === 1 &&
        left.subscriptions <= mayHave + 1,
      async () => left = await read(),
    );
    return left;
  }

  test(`${JOBS} jobs leave their results and nothing else`, async () => {
    const { messages } = await state(RESULTS);
    const ids = await Promise.all(
      Array.from({ length: JOBS }, (_, n) => pool.enqueue.add([n, n], { id: `job-${n}` })),
    );
    // Most wait for their call, all at a time.
    const sums = await Promise.all(ids.map((id) => pool.result(id)));
    expect(sums).toEqual(ids.map((_, n) => 2 * n));
    // Now they are there.
    for (const id of ids) await pool.result(id);
    expect((await read()).consumers).toBeLessThanOrEqual(2);
    await settled(before.subscriptions);
    expect((await state(RESULTS)).messages - messages).toBe(JOBS);
  });

  test("no way in which a call or a wait ends leaves more", async () => {
    const dead = (await state(DEAD)).messages;
    const held = await pool.enqueue.recordUntil([file("held"), "held", file("go")]);
    const timedOut = Array.from({ length: 50 }, () => pool.result(held, { timeoutMs: 20 }));
    for (const wait of timedOut) expect(await rejection(wait)).toBeInstanceOf(TimeoutError);
    const waiting = Array.from({ length: 50 }, () => pool.result(held));
    const other = connectPool(options)<Tasks>();
    const closed = rejection(other.result(held));
    await other.result(await other.enqueue.add([1, 2]));
    await other.shutdown();
    expect(await closed).toBeInstanceOf(PoolClosedError);
    writeFileSync(file("go"), "");
    for (const wait of waiting) expect(await wait).toBe("done held");
    const delayed = await pool.enqueue.add([3, 4], { delayMs: 50 });
    expect(await pool.result(delayed)).toBe(7);
    for (let n = 0; n < 2; n++) await pool.enqueue.add([5, 6], { id: "twice" });
    expect(await pool.result("twice")).toBe(11);
    const failing = await pool.enqueue.fail(["x"], { retries: 0 });
    expect(await rejection(pool.result(failing))).toMatchObject({ message: "x" });
    await settled(before.subscriptions);
    expect((await state(DEAD)).messages - dead).toBe(1);
  });
});
