/** Machines and servers that die: every call settles once, by its result or with the name of the machine. */
import { afterEach, describe, expect, test } from "vitest";
import { WorkerLostError } from "../../src/mod.ts";
import { connectPool, type RemotePool } from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import {
  type MachineProcess,
  MACHINES,
  noServer,
  startMachine,
  startServers,
} from "../support/nats.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
type Servers = Awaited<ReturnType<typeof startServers>>;

describe.skipIf(noServer !== undefined)(`losses${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Servers | undefined;
  const pools: RemotePool<Tasks>[] = [];
  const machines: MachineProcess[] = [];
  const addresses = (): string[] => servers!.map(({ address }) => address);
  /** `lostAfterMs`: longer than this machine may be busy with other things, where nothing is lost. */
  const open = (subject = "losses", lostAfterMs = 6000): RemotePool<Tasks> => {
    const pool = connectPool({ servers: addresses(), subject, lostAfterMs })<Tasks>();
    pools.push(pool);
    return pool;
  };
  const machine = async (
    name: string,
    runtime = "node",
    subject = "losses",
  ): Promise<MachineProcess> => {
    const options = { servers: addresses(), subject, pool: { threads: 1 } };
    const started = await startMachine(name, options, runtime);
    machines.push(started);
    return started;
  };
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.shutdown(0);
    for (const each of machines.splice(0)) await each.kill();
    await servers?.stop();
  });

  test("the machine of a call is named when it dies; idempotent calls are repeated", async () => {
    servers = await startServers(1);
    const first = await machine("first");
    const pool = open();
    const lost = rejection(pool.call.sleep(60_000));
    const repeated = pool.call.notIn.with({ retries: 3 })(await pool.call.pid());
    await until(() => pool.stats().machines === 1);
    await machine("second", "deno");
    await first.kill();
    const error = await lost;
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(error).toMatchObject({ machine: "first", workerId: -1, code: "HEDDLE_WORKER_LOST" });
    expect(await repeated).toBe("elsewhere");
    expect(pool.stats()).toMatchObject({ inFlight: 0, retried: 1, machinesLost: 1 });
  });

  test("SIGTERM lets calls finish and ends the process", async () => {
    servers = await startServers(1);
    await Promise.all(
      Object.keys(MACHINES).map(async (runtime) => {
        const leaving = await machine("leaving", runtime, runtime);
        const pool = open(runtime, 30_000);
        const finishing = pool.call.sleep(500, runtime);
        await pool.call.add(1, 2);
        await leaving.kill("SIGTERM");
        expect(await finishing).toBe(runtime);
        expect(await leaving.exited).toBe(143);
      }),
    );
  });

  test("machines of every runtime serve this one", async () => {
    servers = await startServers(1);
    await Promise.all(
      Object.keys(MACHINES).map(async (runtime) => {
        await machine("serving", runtime, runtime);
        const pool = open(runtime, 30_000);
        expect(await pool.call.runtime()).toBe(runtime);
        const value = { text: "ä𝄞", big: 1n << 70n, map: new Map([[1, new Date(2)]]) };
        expect(await pool.call.echo(value)).toEqual(value);
        const bytes = new Uint8Array(2_500_000).fill(3);
        expect(Buffer.compare(await pool.call.echo(bytes) as Uint8Array, bytes)).toBe(0);
        expect(await pool.call.count(2000).toArray()).toHaveLength(2000);
        const error = await rejection(pool.call.fail("no"));
        expect(error).toMatchObject({ name: "QuotaError", message: "no", limit: 5 });
      }),
    );
  });

  test("a killed machine under load costs no call its outcome", async () => {
    servers = await startServers(1);
    const [first] = await Promise.all([machine("first"), machine("second", "bun")]);
    await settleAll(open(), 2000, () => first!.kill(), "first");
  });

  test("a killed server of a cluster under load costs no call its outcome", async () => {
    servers = await startServers(3);
    await Promise.all([machine("first"), machine("second")]);
    const pool = open();
    await settleAll(pool, 2000, () => servers![0]!.kill());
    expect(await pool.call.add.with({ retries: 3 })(1, 2)).toBe(3);
  });

  test("streams both ways are whole or fail when a server of a cluster is killed", async () => {
    servers = await startServers(3);
    await Promise.all([machine("first"), machine("second")]);
    const pool = open();
    await pool.call.add.with({ retries: 3 })(1, 2);
    const COUNT = 20_000;
    let begun = 0;
    let killed: Promise<void> | undefined;
    /** How many items arrived, in order; what ended the stream early. */
    const read = async (items: AsyncIterable<number>): Promise<number> => {
      let next = 0;
      try {
        for await (const item of items) {
          if (next === 1000 && ++begun === 10) killed = servers![0]!.kill();
          expect(item).toBe(2 * next++);
        }
        expect(next).toBe(COUNT);
      } catch (error) {
        expect(error).toBeInstanceOf(WorkerLostError);
      }
      return next;
    };
    const source = async function* (): AsyncGenerator<number> {
      for (let n = 0; n < COUNT; n++) yield await Promise.resolve(n);
    };
    const streams = Array.from(
      { length: 20 },
      (_, n) => read(pool.call.double(n % 2 === 0 ? source() : pool.call.count(COUNT))),
    );
    await Promise.all(streams);
    await killed;
    expect(begun).toBeGreaterThan(0);
    // The sources of streams that failed are being ended.
    await until(() => pool.stats().inFlight === 0);
    expect(await pool.call.add.with({ retries: 3 })(1, 2)).toBe(3);
  });

  /** Makes calls, 50 at a time, half of them idempotent; `disturb` runs in the middle. */
  async function settleAll(
    pool: RemotePool<Tasks>,
    count: number,
    disturb: () => Promise<void>,
    killed?: string,
  ): Promise<void> {
    await pool.call.add.with({ retries: 3 })(1, 2);
    const outcomes = new Array<number>(count).fill(0);
    let next = 0;
    let lost = 0;
    let disturbed: Promise<void> | undefined;
    const work = async (): Promise<void> => {
      while (next < count) {
        const n = next++;
        if (n === count >> 1) disturbed = disturb();
        const isIdempotent = n % 2 === 0;
        const call = isIdempotent ? pool.call.add.with({ retries: 3 }) : pool.call.add;
        try {
          expect(await call(n, 1)).toBe(n + 1);
        } catch (error) {
          expect(error).toBeInstanceOf(WorkerLostError);
          expect(isIdempotent).toBe(false);
          if (killed !== undefined) expect(error).toMatchObject({ machine: killed });
          lost++;
        }
        outcomes[n]!++;
      }
    };
    await Promise.all(Array.from({ length: 50 }, work));
    await disturbed;
    expect(outcomes.every((times) => times === 1)).toBe(true);
    expect(lost).toBeLessThanOrEqual(50);
    expect(pool.stats().inFlight).toBe(0);
  }
});
