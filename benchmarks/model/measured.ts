/**
 * What this machine (2 cores, nested virtual machine, Node 26) measured, beside the same thing in the
 * model. Used by the test and by the first table of README.md.
 */
import { type Costs, NESTED_VM } from "./costs.ts";
import { AS_WORDED, type Policy } from "./policies.ts";
import { latenessOf, percentile, simulate } from "./simulation.ts";
import { batches, sharedChunks, type Workload } from "./workloads.ts";

export interface Comparison {
  readonly what: string;
  /** Microseconds. */
  readonly measuredUs: number;
  readonly modelUs: number;
  /** How far the model may be off, relative to what was measured. */
  readonly tolerance: number;
}

/** `heavy-load`: the main thread alone takes this long for all chunks. */
const ALONE_US = 994_500;
const CHUNKS = 40;
/** A timer of no delay is one of a millisecond. */
const TIMER_TURN_US = 1080;

/** Trial division: a chunk's cost grows with the root of its numbers; the dearest come first. */
export function primeChunksUs(): number[] {
  const weights = Array.from({ length: CHUNKS }, (_, index) => Math.sqrt(CHUNKS - index - 0.5));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum * ALONE_US);
}

export function compare(policy: Policy = AS_WORDED, costs: Costs = NESTED_VM): Comparison[] {
  const round = (workload: Workload, threads: number, cores = 2) =>
    simulate({ workload, threads, shape: { cores }, policy, costs });
  const echo = (count: number) => round(batches([{ count, serviceUs: 0 }], 50), 1).roundP50;
  const primes = (workers: number, cores = 2) => {
    const options = { chunksUs: primeChunksUs(), workers, ahead: 2, turnUs: TIMER_TURN_US };
    return round(sharedChunks(options), Math.max(workers, 1), cores).roundP50;
  };
  const late = round(batches([{ count: 1, serviceUs: 5000 }], 20), 1).measured.map(latenessOf);
  return [
    { what: "f64 echo, batch 1", measuredUs: 0.38, modelUs: echo(1), tolerance: 0.15 },
    { what: "f64 echo, batch 100", measuredUs: 17, modelUs: echo(100), tolerance: 0.1 },
    { what: "f64 echo, batch 1000", measuredUs: 165, modelUs: echo(1000), tolerance: 0.1 },
    {
      what: "lateness of a 5 ms task, host parked (87 to 109)",
      measuredUs: 98,
      modelUs: percentile(late, 0.5),
      tolerance: 0.2,
    },
    {
      what: "primes, main thread alone: one core",
      measuredUs: ALONE_US,
      modelUs: primes(0, 1),
      tolerance: 0.01,
    },
    { what: "primes, main + 1 worker", measuredUs: 536_600, modelUs: primes(1), tolerance: 0.1 },
    { what: "primes, main + 2 workers", measuredUs: 518_200, modelUs: primes(2), tolerance: 0.1 },
  ];
}
