/**
 * Calls while machines are killed: each settles once, by its result or by WorkerLostError; durable ones run at least once
 * and are recorded once. A short form runs in the suite, `npm run test:nats-chaos` the long one.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WorkerLostError } from "../../src/mod.ts";
import { connectPool, type RemotePool } from "../../src/mod-nats.ts";
import { type MachineProcess, MACHINES, startMachine, startServers } from "../support/nats.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");

export interface ChaosOptions {
  readonly calls: number;
  readonly durable: number;
  readonly kills: number;
  readonly machines: number;
  readonly random: () => number;
}

export interface ChaosReport {
  readonly settledOnce: number;
  readonly lost: number;
  /** Lost calls whose error names a machine that was killed. */
  readonly named: number;
  /** Messages of the others. */
  readonly unnamed: readonly string[];
  readonly durableRuns: number;
  readonly durableRecorded: number;
  readonly retried: number;
}

/** Throws if an outcome is wrong. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const servers = await startServers(1, ["-js"]);
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-chaos-"));
  const common = {
    servers: servers[0]!.address,
    subject: "chaos",
    durable: { ackWaitMs: 2000 },
  };
  const pool = connectPool({ ...common, lostAfterMs: 3000 })<Tasks>();
  const runtimes = Object.keys(MACHINES);
  let started = 0;
  const start = (): Promise<MachineProcess> =>
    startMachine(
      `machine-${started}`,
      { ...common, pool: { threads: 1 } },
      runtimes[started++ % runtimes.length],
    );
  const machines = await Promise.all(Array.from({ length: options.machines }, start));
  const killed = new Set<string>();
  try {
    const disturb = async (): Promise<void> => {
      for (let kill = 0; kill < options.kills; kill++) {
        await pause(200 + options.random() * 800);
        const at = Math.floor(options.random() * machines.length);
        killed.add(machines[at]!.name);
        await machines[at]!.kill();
        machines[at] = await start();
      }
    };
    const [plain, durable] = await Promise.all([
      callAll(pool, options.calls, killed),
      enqueueAll(pool, options.durable, join(folder, "runs")),
      disturb(),
    ]);
    return { ...plain, ...durable, retried: pool.stats().retried };
  } finally {
    await pool.shutdown(0);
    for (const machine of machines) await machine.kill();
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Half of the calls may run twice, and must succeed. */
async function callAll(
  pool: RemotePool<Tasks>,
  count: number,
  killed: ReadonlySet<string>,
): Promise<Pick<ChaosReport, "settledOnce" | "lost" | "named" | "unnamed">> {
  const outcomes = new Uint8Array(count);
  let [next, lost, named] = [0, 0, 0];
  const unnamed = new Set<string>();
  const repeatable = pool.call.add.with({ retries: 100 });
  const work = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const isIdempotent = n % 2 === 0;
      await (isIdempotent ? repeatable : pool.call.add)(n, 1).then((sum) => {
        if (sum !== n + 1) throw new Error(`call ${n} got ${sum}`);
      }).catch((error) => {
        if (!(error instanceof WorkerLostError) || isIdempotent) throw error;
        lost++;
        if (killed.has(error.machine ?? "")) named++;
        else unnamed.add(error.message);
      }).finally(() => outcomes[n]!++);
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
  const settledOnce = outcomes.filter((times) => times === 1).length;
  return { settledOnce, lost, named, unnamed: [...unnamed] };
}

async function enqueueAll(
  pool: RemotePool<Tasks>,
  count: number,
  file: string,
): Promise<Pick<ChaosReport, "durableRuns" | "durableRecorded">> {
  let [next, durableRecorded] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const id = `durable-${n}`;
      await pool.enqueue.record([file, id, 20], {
        id,
        retries: 100,
        delayMs: n % 2 === 0 ? 0 : 50,
      });
      if (await pool.result(id) === `done ${id}`) durableRecorded++;
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  const runs = readFileSync(file, "utf8").split("\n").slice(0, -1);
  if (new Set(runs).size !== count) throw new Error(`${new Set(runs).size} of ${count} have run.`);
  return { durableRuns: runs.length, durableRecorded };
}
