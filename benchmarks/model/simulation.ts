/** Puts a machine, a host with its lanes and a workload together, runs them and sums up. */
import type { Call } from "./call.ts";
import { type Costs, type MachineShape, NESTED_VM } from "./costs.ts";
import { Host } from "./host.ts";
import { Machine, SPIN, WAKE, WORK } from "./machine.ts";
import { AS_WORDED, type Policy } from "./policies.ts";
import type { Workload } from "./workloads.ts";

export interface Setting {
  readonly workload: Workload;
  readonly shape: MachineShape;
  readonly threads: number;
  readonly policy?: Policy;
  readonly costs?: Costs;
  readonly seed?: number;
  /** Estimates are wrong by this factor. */
  readonly estimateFactor?: number;
  /** For checks. */
  readonly onPark?: (host: Host) => void;
}

export interface Outcome {
  readonly host: Host;
  readonly machine: Machine;
  readonly measured: readonly Call[];
  readonly submitted: number;
  readonly settled: number;
  readonly rounds: readonly number[];
  /** Of the rounds; of a workload without rounds the whole time. */
  readonly roundP50: number;
  readonly roundMean: number;
  readonly elapsedUs: number;
  readonly wakesPerCall: number;
  readonly postsPerCall: number;
  readonly movesPerCall: number;
  /** Cores kept busy, on average. */
  readonly spinCores: number;
  readonly wakeCores: number;
  readonly hostBusy: number;
  /** Of all lanes, spinning and waking not counted. */
  readonly workerCores: number;
}

/** mulberry32: the same numbers on every runtime. */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Until nothing happens any more. */
export function simulate(setting: Setting): Outcome {
  const { shape, threads, policy = AS_WORDED, costs = NESTED_VM, seed = 1 } = setting;
  const random = createRandom(seed);
  const driver = setting.workload(random);
  const machine = new Machine(shape, costs);
  let settled = 0;
  const host = new Host({
    machine,
    costs,
    policy,
    threads,
    random,
    estimateFactor: setting.estimateFactor ?? 1,
    onSettled(call) {
      settled++;
      driver.onSettled(call);
    },
    ...(setting.onPark === undefined ? {} : { onPark: setting.onPark }),
  });
  driver.start(host);
  machine.run();
  const { submitted, rounds, measured } = driver;
  // The spin and the park that follow the last answer belong to no call: they are few.
  const elapsedUs = machine.now;
  const workers = host.lanes.map(({ thread }) => thread);
  const all = [host.thread, ...workers];
  const cores = (threads: typeof all, activity: 0 | 1 | 2) =>
    threads.reduce((sum, { cpuUs }) => sum + cpuUs[activity], 0) / elapsedUs;
  const wakes = host.lanes.reduce((sum, lane) => sum + lane.wakes, 0);
  return {
    host,
    machine,
    measured,
    submitted,
    settled,
    rounds,
    roundP50: rounds.length === 0 ? elapsedUs : percentile(rounds, 0.5),
    roundMean: rounds.length === 0 ? elapsedUs : mean(rounds),
    elapsedUs,
    wakesPerCall: wakes / submitted,
    postsPerCall: host.posts / submitted,
    movesPerCall: host.moves / submitted,
    spinCores: cores(all, SPIN),
    wakeCores: cores(all, WAKE),
    hostBusy: cores([host.thread], WORK) + cores([host.thread], WAKE),
    workerCores: cores(workers, WORK),
  };
}

export const latencyOf = (call: Call): number => call.settledAt - call.arrivedAt;
/** How much later than on a worker of its own, ready and with nothing to hand over. */
export const latenessOf = (call: Call): number => latencyOf(call) - call.serviceUs;
