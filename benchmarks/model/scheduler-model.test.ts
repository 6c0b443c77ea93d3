/** The model of the scheduler (benchmarks/model): its invariants, and that it knows this machine. */
import { describe, expect, test } from "vitest";
import { BARE_METAL, NESTED_VM } from "./costs.ts";
import { EventHeap, Fifo } from "./event-heap.ts";
import { Machine, SPIN, Thread, WAKE, WORK } from "./machine.ts";
import { compare } from "./measured.ts";
import { AMENDED, AS_WORDED, type Policy } from "./policies.ts";
import { latencyOf, type Outcome, simulate } from "./simulation.ts";
import { batches, meanUs, MIX, poisson, type Workload } from "./workloads.ts";
import { createRandom } from "../../tests/support/random.ts";

const mixAt = (cores: number, load: number, calls = 1500): Workload =>
  poisson({ mix: MIX, perUs: load * cores / meanUs(MIX), calls });

const WORKLOADS: readonly (readonly [string, Workload])[] = [
  ["void × 1", batches([{ count: 1, serviceUs: 0 }], 20)],
  ["void × 1000", batches([{ count: 1000, serviceUs: 0 }], 2)],
  ["64 × 10 µs, with pauses", batches([{ count: 64, serviceUs: 10 }], 5, 3000)],
  ["8 × 5 ms", batches([{ count: 8, serviceUs: 5000 }], 3)],
  [
    "200 ms and 500 micro",
    batches([{ count: 1, serviceUs: 2e5 }, { count: 500, serviceUs: 0 }], 1),
  ],
  ["mix", mixAt(2, 0.8)],
];

const POLICIES: readonly (readonly [string, Policy])[] = [
  ["as worded", AS_WORDED],
  ["amended", AMENDED],
  ...(["roundRobin", "leastLoaded", "firstIdle", "randomLane"] as const).map((choice) =>
    [choice, { ...AS_WORDED, choice }] as const
  ),
];

const PLACES: readonly (readonly [cores: number, threads: number])[] = [
  [1, 1],
  [1, 3],
  [2, 1],
  [2, 2],
  [2, 8],
  [8, 8],
];

/** Every call is served once, in order of time, and every microsecond of a core is accounted for. */
function checkOutcome({ host, machine, measured, submitted, settled, elapsedUs }: Outcome): void {
  expect(settled).toBe(submitted);
  expect(host.outstanding).toBe(0);
  expect(host.queued).toBe(0);
  expect(host.awake.count).toBe(0);
  let served = 0;
  for (const lane of host.lanes) {
    served += lane.served;
    expect([lane.unanswered, lane.requests.size, lane.responses.size]).toEqual([0, 0, 0]);
    expect([...lane.countOf, ...lane.openOf].every((count) => count === 0)).toBe(true);
  }
  expect(served).toBe(submitted);
  let busyUs = 0;
  for (const { cpuUs } of [host.thread, ...host.lanes.map(({ thread }) => thread)]) {
    busyUs += cpuUs[WORK] + cpuUs[SPIN] + cpuUs[WAKE];
  }
  expect(busyUs).toBeLessThanOrEqual(machine.cores * elapsedUs * (1 + 1e-9));
  for (const call of measured) {
    if (call.runs !== 1) expect.unreachable("a call runs once");
    const inOrder = call.arrivedAt <= call.startedAt && call.settledAt > call.finishedAt &&
      // Preempted it takes longer, never shorter.
      call.finishedAt - call.startedAt >= call.serviceUs + NESTED_VM.workerUs - 1e-3;
    if (!inOrder) expect.unreachable(JSON.stringify(call));
  }
}

describe.each(POLICIES)("%s", (_, policy) => {
  test.each(WORKLOADS)(
    "%s: every call is served once and all time is accounted for",
    (_, workload) => {
      for (const [cores, threads] of PLACES) {
        checkOutcome(simulate({ workload, shape: { cores }, threads, policy }));
      }
      checkOutcome(
        simulate({
          workload,
          shape: { cores: 4, isSmt: true },
          threads: 4,
          policy,
          costs: BARE_METAL,
        }),
      );
    },
  );
});

describe.each([["as worded", AS_WORDED], ["amended", AMENDED]] as const)("%s", (_, policy) => {
  test("the host never parks while a lane is idle and a call could move to it", () => {
    let parks = 0;
    for (const [cores, threads] of PLACES) {
      const onPark: NonNullable<Parameters<typeof simulate>[0]["onPark"]> = (host) => {
        parks++;
        // An answer unread by the host would keep it from parking, so these books are true.
        expect(host.lanes.every(({ responses }) => responses.size === 0)).toBe(true);
        const isAnyIdle = host.lanes.some(({ unanswered }) => unanswered === 0);
        if (!isAnyIdle) return;
        expect(host.lanes.some(({ revocable }) => revocable > 0)).toBe(false);
        // Long and unknown calls may wake any lane; what waits here was short when it was queued.
        expect(host.queue.size).toBe(0);
      };
      simulate({ workload: mixAt(cores, 0.9), shape: { cores }, threads, policy, onPark });
    }
    expect(parks).toBeGreaterThan(100);
  });

  test("a lane never has more long calls than its in-flight window", () => {
    const workload = batches([{ count: 60, serviceUs: 5000 }], 2);
    let most = 0;
    const onPark: NonNullable<Parameters<typeof simulate>[0]["onPark"]> = (host) => {
      for (const { unanswered } of host.lanes) most = Math.max(most, unanswered);
    };
    simulate({ workload, shape: { cores: 8 }, threads: 8, policy, onPark });
    expect(most).toBe(policy.depth);
  });

  test("micro-tasks stay on one lane and are not slower with more threads", () => {
    for (const count of [1, 100, 1000]) {
      const workload = batches([{ count, serviceUs: 0 }], 5);
      const [one, ...more] = [1, 2, 4, 8].map((threads) =>
        simulate({ workload, shape: { cores: 2 }, threads, policy })
      );
      for (const { roundP50, host } of more) {
        expect(roundP50).toBeLessThan(1.5 * one!.roundP50);
        expect(host.lanes.slice(2).every(({ served }) => served <= 2 * count)).toBe(true);
      }
    }
  });

  test("micro-tasks finish before a concurrent long call", () => {
    const groups = [{ count: 1, serviceUs: 200_000 }, { count: 1000, serviceUs: 0 }];
    const { measured } = simulate({
      workload: batches(groups, 2),
      shape: { cores: 2 },
      threads: 2,
      policy,
    });
    const last = Math.max(...measured.filter(({ task }) => task === 1).map(latencyOf));
    expect(last).toBeLessThan(2000);
  });
});

describe("compared with measurements on this machine", () => {
  test.each(compare())(
    "$what: the policy as worded is within tolerance",
    ({ measuredUs, modelUs, tolerance }) => {
      expect(Math.abs(modelUs / measuredUs - 1)).toBeLessThan(tolerance);
    },
  );

  test.each(compare(AMENDED))(
    "$what: the amended policy is within tolerance",
    ({ measuredUs, modelUs, tolerance }) => {
      expect(Math.abs(modelUs / measuredUs - 1)).toBeLessThan(tolerance);
    },
  );
});

describe("the flaw fixed by the amended policy", () => {
  test("a host that does not see responses wakes a worker for most calls", () => {
    const workload = batches([{ count: 3000, serviceUs: 20 }], 1);
    const at = { workload, shape: { cores: 32 }, threads: 32 };
    const worded = simulate({ ...at, policy: AS_WORDED });
    const amended = simulate({ ...at, policy: AMENDED });
    expect(worded.wakesPerCall).toBeGreaterThan(0.5);
    expect(amended.wakesPerCall).toBeLessThan(0.1);
    expect(amended.roundP50).toBeLessThan(worded.roundP50 / 5);
  });
});

describe("components of the model", () => {
  test("a run depends only on its seed", () => {
    const run = (seed: number) =>
      simulate({ workload: mixAt(8, 0.7), shape: { cores: 8 }, threads: 8, seed }).measured
        .map(latencyOf);
    expect(run(7)).toEqual(run(7));
    expect(run(7)).not.toEqual(run(8));
  });

  test("events run in order of time, then in order of insertion", () => {
    const random = createRandom(1);
    const heap = new EventHeap();
    const came: [number, number][] = [];
    for (let order = 0; order < 500; order++) {
      const time = Math.floor(random() * 50);
      heap.push(time, () => came.push([time, order]), () => order % 7 !== 0);
    }
    for (let event = heap.peek(); event !== undefined; event = heap.peek()) {
      heap.pop();
      event.run();
    }
    const sorted = came.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
    expect(came).toEqual(sorted);
    expect(came.length).toBe(500 - Math.ceil(500 / 7));
  });

  test("a queue returns its items from both ends", () => {
    const queue = new Fifo<number>();
    for (let item = 0; item < 300; item++) queue.push(item);
    for (let item = 0; item < 200; item++) expect(queue.shift()).toBe(item);
    expect(queue.popLast()).toBe(299);
    expect(queue.size).toBe(99);
    expect(queue.peek()).toBe(200);
  });

  test("threads share cores fairly, and SMT siblings run slower", () => {
    const run = (cores: number, threads: number, isSmt: boolean) => {
      const machine = new Machine({ cores, isSmt }, NESTED_VM);
      const ends: number[] = [];
      for (let index = 0; index < threads; index++) {
        const thread = new Thread(`thread ${index}`);
        machine.wake(thread, () =>
          machine.work(thread, 30_000, WORK, () => {
            ends.push(machine.now);
            machine.block(thread);
          }));
      }
      machine.run();
      return ends;
    };
    expect(run(2, 2, false)).toEqual([30_000, 30_000]);
    expect(Math.max(...run(2, 3, false))).toBeLessThanOrEqual(48_000);
    expect(Math.min(...run(2, 3, false))).toBeGreaterThan(36_000);
    expect(run(2, 2, true)[0]).toBeCloseTo(45_000);
    expect(run(4, 2, true)).toEqual([30_000, 30_000]);
  });
});
