/** Calls over one NATS server: values, errors, limits, aborts, streams, large payloads, discovery, shutdown. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { Svcm } from "@nats-io/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DataCloneError,
  InvalidArgumentError,
  PayloadTooLargeError,
  PoolClosedError,
  TimeoutError,
  transfer,
  UnknownTaskError,
  WorkerLostError,
} from "../../src/mod.ts";
import {
  connectPool,
  NoMachinesError,
  type RemotePool,
  serve,
  type Server,
} from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startServers } from "../support/nats.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);

describe.skipIf(noServer !== undefined)(`one server${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let address: string;
  let server: Server;
  let pool: RemotePool<Tasks>;
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-calls-"));
  const file = (name: string): string => join(folder, name);
  const contents = (name: string): string => {
    try {
      return readFileSync(file(name), "utf8");
    } catch {
      return "";
    }
  };

  beforeAll(async () => {
    servers = await startServers(1);
    address = servers[0]!.address;
    server = serve({
      servers: address,
      subject: "tests",
      name: "first",
      pool: { threads: 2 },
      terminates: false,
    })<Tasks>(tasks);
    await server.ready;
    pool = connectPool({ servers: address, subject: "tests" })<Tasks>();
  });
  afterAll(async () => {
    await pool?.shutdown();
    await server?.shutdown();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("calls return results, also those made before the connection is there", async () => {
    const early = connectPool({ servers: address, subject: "tests" })<Tasks>();
    const sums = Array.from({ length: 100 }, (_, n) => early.call.add(n, 1));
    expect(await Promise.all(sums)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(early.stats()).toMatchObject({ inFlight: 0, queued: 0, completed: 100, failed: 0 });
    await early.shutdown();
  });

  test("values arrive as over shared memory", async () => {
    const values = [
      undefined,
      null,
      -0,
      1n << 70n,
      "ä𝄞\ud800",
      new Date(5),
      /a/gi,
      new Map([[{ a: 1 }, new Set([1])]]),
      Object.assign(new Array(3), { 1: 2 }),
      { a: { b: [new Uint8Array([1, 2]), new Float64Array(3)] } },
      Array.from({ length: 50 }, (_, id) => ({ id, name: `n${id}` })),
      new Uint8Array(200_000).fill(7),
    ];
    for (const value of values) expect(await pool.call.echo(value)).toEqual(value);
    const cyclic: Record<string, unknown> = { list: [] };
    cyclic["self"] = cyclic;
    const back = await pool.call.echo(cyclic) as typeof cyclic;
    expect(back["self"]).toBe(back);
    const growing = new ArrayBuffer(100_000, { maxByteLength: 200_000 });
    expect((await pool.call.echo(growing) as ArrayBuffer).maxByteLength).toBe(200_000);
  });

  test("arguments may be promises; the others are copied at the call", async () => {
    const list = [1];
    const sum = pool.call.echo({ list });
    list.push(2);
    expect(await sum).toEqual({ list: [1] });
    expect(await pool.call.add(Promise.resolve(3), 4)).toBe(7);
    const bytes = new Uint8Array(100_000).fill(1);
    const both = pool.call.echo(Promise.resolve(bytes));
    expect(await both).toEqual(bytes);
    const error = new RangeError("no value");
    expect(await rejection(pool.call.add(1, Promise.reject(error)))).toBe(error);
  });

  test("errors keep their fields", async () => {
    const error = await rejection(pool.call.fail("too many")) as Error & { limit: number };
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ name: "QuotaError", message: "too many", limit: 5 });
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(await rejection(pool.call.throwNumber())).toBe(42);
  });

  test("only served tasks can be called", async () => {
    const { call } = pool as unknown as RemotePool<Record<string, () => void>>;
    for (const name of ["ad", "toString", "__proto__", "constructor "]) {
      expect(await rejection(call[name]!())).toBeInstanceOf(UnknownTaskError);
    }
  });

  test("what only a thread can get is refused by its path", async () => {
    const { port1, port2 } = new MessageChannel();
    const values = [new SharedArrayBuffer(8), port1, transfer(new ArrayBuffer(8)), () => {}];
    for (const value of values) {
      const error = await rejection(pool.call.echo({ deep: [value] } as object));
      expect(error).toBeInstanceOf(DataCloneError);
      expect((error as Error).message).toContain("args[0]");
    }
    expect(await rejection(pool.call.shared())).toBeInstanceOf(DataCloneError);
    expect(() => pool.call.add.with({ transfer: [] })).toThrow(InvalidArgumentError);
    expect(() => pool.call.add.with({ affinity: 1 })).toThrow(InvalidArgumentError);
    port1.close();
    port2.close();
  });

  test("limits of time are kept, and carried to the machine", async () => {
    const timeout = await rejection(pool.call.sleep.with({ runTimeoutMs: 20 })(60_000));
    expect(timeout).toBeInstanceOf(TimeoutError);
    expect(timeout).toMatchObject({ kind: "run", limitMs: 20 });
    const urgent = pool.call.sleep.with({ priority: "high" });
    const lenient = urgent.with({ runTimeoutMs: 20, timeoutValue: "late" });
    expect(await lenient(60_000)).toBe("late");
    const deadline = await rejection(pool.call.sleep.with({ timeoutMs: 30 })(60_000));
    expect(deadline).toMatchObject({ kind: "call", limitMs: 30 });
    expect(await urgent.with({ timeoutMs: 30, timeoutValue: "late" })(60_000)).toBe("late");
    expect(await pool.call.add.with({ priority: "high", retries: 3 })(1, 2)).toBe(3);
  });

  test("an abort rejects at once and reaches the task", async () => {
    const controller = new AbortController();
    const call = pool.call.untilAborted.with({ signal: controller.signal })(file("abort"));
    await until(() => contents("abort").includes("started"));
    const reason = new RangeError("enough");
    controller.abort(reason);
    expect(await rejection(call)).toBe(reason);
    await until(() => contents("abort").includes("aborted"));
    await until(() => server.stats().inFlight === 0);
    const aborted = AbortSignal.abort(reason);
    expect(await rejection(pool.call.add.with({ signal: aborted })(1, 2))).toBe(reason);
  });

  test("events arrive before the result, in order", async () => {
    const events: unknown[] = [];
    const call = pool.call.progress.with({ onEvent: (event) => events.push(event) });
    expect(await call(3)).toBe(3);
    expect(events).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }]);
  });

  test("payloads larger than max_payload travel in chunks, both ways", async () => {
    for (const megabytes of [1, 3, 9]) {
      const bytes = new Uint8Array(megabytes * 2 ** 20);
      for (let at = 0; at < bytes.length; at += 4096) bytes[at] = at >> 12;
      const back = await pool.call.echo(bytes) as Uint8Array;
      expect(Buffer.compare(back, bytes)).toBe(0);
    }
    const texts = Array.from({ length: 100_000 }, (_, n) => `text number ${n}`);
    expect(await pool.call.echo(texts)).toEqual(texts);
    const large = await Promise.all(
      Array.from({ length: 8 }, (_, n) => pool.call.echo(new Uint8Array(2_000_000).fill(n))),
    ) as Uint8Array[];
    for (const [n, bytes] of large.entries()) expect(bytes[1_999_999]).toBe(n);
  });

  test("payloads above maxPayloadBytes are refused on either side", async () => {
    const small = connectPool({
      servers: address,
      subject: "tests",
      maxPayloadBytes: 100_000,
    })<Tasks>();
    const error = await rejection(small.call.echo(new Uint8Array(200_000)));
    expect(error).toBeInstanceOf(PayloadTooLargeError);
    const large = connectPool({
      servers: address,
      subject: "tests",
      maxPayloadBytes: 2 ** 28,
    })<Tasks>();
    const refused = await rejection(large.call.echo(new Uint8Array(70 * 2 ** 20)));
    expect((refused as Error).message).toContain("maxPayloadBytes");
    expect(await large.call.add(1, 1)).toBe(2);
    await Promise.all([small.shutdown(), large.shutdown()]);
  });

  test("generators and iterables are streams", async () => {
    const rows = pool.call.count(10_000);
    const items: number[] = [];
    for await (const item of rows) items.push(item);
    expect(items).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    expect(await rows.returned).toBe("counted");
    expect(await pool.call.count(5).toArray()).toEqual([0, 1, 2, 3, 4]);
    const iterable = await pool.call.stream(1000);
    let sum = 0;
    for await (const item of iterable) sum += item;
    expect(sum).toBe(499_500);
    const failing = pool.call.failAfter(3);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of failing) seen.push(item);
    })();
    expect(await rejection(reading)).toMatchObject({ message: "no more" });
    expect(seen).toEqual([0, 1, 2]);
    const blocks = await pool.call.blocks(6, 3_000_000).toArray();
    expect(blocks.map((block) => [block.length, block[0]])).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => [3_000_000, n]),
    );
    expect(await rejection(pool.call.count(1) as unknown as Promise<unknown>))
      .toBeInstanceOf(InvalidArgumentError);
  });

  test("a stream of a call that has failed gives its error to readers that come later", async () => {
    const { call } = pool as unknown as RemotePool<Record<string, () => Generator<number>>>;
    const unknown = call["nothing"]!();
    await rejection(unknown as unknown as Promise<unknown>);
    expect(await rejection(unknown.toArray())).toBeInstanceOf(UnknownTaskError);
    const closed = connectPool({ servers: address, subject: "tests" })<Tasks>();
    await closed.shutdown();
    expect(await rejection(closed.call.count(3).toArray())).toBeInstanceOf(PoolClosedError);
  });

  test("a stream that is not read pauses its task; leaving it ends the generator", async () => {
    const rows = pool.call.endless(file("endless"));
    expect((await rows.next()).value).toBe(0);
    await pause(300);
    expect(contents("endless")).toBe("");
    for await (const row of rows) if (row === 20_000) break;
    await until(() => contents("endless") === "closed\n");
    await until(() => server.stats().inFlight === 0);
  });

  test("a machine takes no more than maxInFlight; callers wait for room", async () => {
    const busy = serve({
      servers: address,
      subject: "busy",
      pool: { threads: 1 },
      maxInFlight: 3,
      terminates: false,
      discovery: false,
    })<Tasks>(tasks);
    await busy.ready;
    const caller = connectPool({ servers: address, subject: "busy" })<Tasks>();
    const calls = Array.from({ length: 30 }, (_, n) => caller.call.sleep(10, n));
    let most = 0;
    const done = Promise.all(calls);
    await until(() => {
      most = Math.max(most, busy.stats().inFlight);
      return caller.stats().inFlight === 0;
    });
    expect(await done).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect(most).toBeLessThanOrEqual(3);
    expect(busy.stats().refused).toBeGreaterThan(0);
    await caller.shutdown();
    await busy.shutdown();
  });

  test("services discovery shows the machine with statistics", async () => {
    const connection = await connect({ servers: address });
    const client = new Svcm(connection as never).client({ strategy: "stall", maxWait: 30_000 });
    const infos = [];
    for await (const info of await client.info("tests")) infos.push(info);
    expect(infos).toHaveLength(1);
    expect(infos[0]!.metadata).toMatchObject({ machine: "first" });
    expect(infos[0]!.metadata!["tasks"]).toContain("add");
    let counted = 0;
    for await (const stats of await client.stats("tests")) {
      counted++;
      const [endpoint] = stats.endpoints!;
      expect(endpoint!.num_requests).toBeGreaterThan(50);
      expect(endpoint!.data).toMatchObject({ inFlight: 0, pool: { ready: 2 } });
    }
    expect(counted).toBe(1);
    await connection.close();
  });

  test("shutdown lets calls finish, then rejects what is left", async () => {
    const start = async (): Promise<Server> => {
      const options = { servers: address, subject: "drained", name: "leaving" };
      const started = serve({ ...options, terminates: false })<Tasks>(tasks);
      await started.ready;
      return started;
    };
    const patient = await start();
    const caller = connectPool({ servers: address, subject: "drained", machineWaitMs: 50 })<
      Tasks
    >();
    const finishing = caller.call.sleep(200, "finished");
    await until(() => patient.stats().inFlight === 1);
    await patient.shutdown(Infinity);
    expect(await finishing).toBe("finished");
    const hasty = await start();
    const hanging = rejection(caller.call.sleep(60_000));
    await until(() => hasty.stats().inFlight === 1);
    await hasty.shutdown(50);
    const lost = await hanging;
    expect(lost).toBeInstanceOf(WorkerLostError);
    expect(lost).toMatchObject({ machine: "leaving", workerId: -1 });
    expect(await rejection(caller.call.add(1, 2))).toBeInstanceOf(NoMachinesError);
    const late = rejection(caller.call.add(1, 2));
    await caller.shutdown(0);
    expect(await late).toBeInstanceOf(PoolClosedError);
    expect(await rejection(caller.call.add(1, 2))).toBeInstanceOf(PoolClosedError);
  });

  test("credentials are passed to the client", async () => {
    const locked = await startServers(1, ["--user", "ada", "--pass", "secret"]);
    const options = { servers: locked[0]!.address, subject: "locked" };
    const connection = { user: "ada", pass: "secret" };
    const refused = connectPool(options)<Tasks>();
    expect(await rejection(refused.ready)).toBeInstanceOf(NoMachinesError);
    const open = serve({ ...options, connection, terminates: false })<Tasks>(tasks);
    await open.ready;
    const caller = connectPool({ ...options, connection })<Tasks>();
    expect(await caller.call.add(1, 2)).toBe(3);
    await Promise.all([caller.shutdown(), refused.shutdown()]);
    await open.shutdown();
    await locked.stop();
  });

  test("wrong options and unreachable servers are named", async () => {
    expect(() => connectPool({ subject: "a b" })()).toThrow(InvalidArgumentError);
    expect(() => connectPool({ subject: "a", server: 1 } as never)()).toThrow(/servers/);
    expect(() => serve({ subject: "a", maxInFlight: 0 })(tasks)).toThrow(InvalidArgumentError);
    const nowhere = connectPool({ servers: "127.0.0.1:1", subject: "a" })<Tasks>();
    expect(await rejection(nowhere.ready)).toBeInstanceOf(NoMachinesError);
    expect(await rejection(nowhere.call.add(1, 2))).toBeInstanceOf(NoMachinesError);
    await nowhere.shutdown();
  });
});
