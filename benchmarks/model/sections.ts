/** The tables of README.md, each from its own simulations. `run.ts` prints them. */
import { table } from "../harness/markdown-table.ts";
import { BARE_METAL, type Costs, NESTED_VM } from "./costs.ts";
import { compare } from "./measured.ts";
import { AMENDED, AS_WORDED, type Choice, type Policy } from "./policies.ts";
import {
  BATCH_WORKLOADS,
  digits,
  duration,
  lateness,
  type Place,
  runBatches,
  runMix,
  SUITE_HEADER,
  suiteRow,
} from "./suite.ts";

type Section = () => string[];

const COSTS: readonly (readonly [string, Costs])[] = [
  ["nested VM", NESTED_VM],
  ["bare metal", BARE_METAL],
  ["bare metal, lanes found without looking", { ...BARE_METAL, lookUs: 0 }],
];

const percent = (value: number) => `${value >= 0 ? "+" : "−"}${Math.abs(100 * value).toFixed(1)} %`;

function measured(): string[] {
  const rows = compare().map(({ what, measuredUs, modelUs, tolerance }) => [
    what,
    duration(measuredUs),
    duration(modelUs),
    percent(modelUs / measuredUs - 1),
    `${100 * tolerance} %`,
  ]);
  return table(["", "measured", "model", "off by", "test allows"], rows);
}

/** One flaw after the other taken out of the policy as worded. */
const STEPS: readonly (readonly [string, Partial<Policy>])[] = [
  ["as worded", {}],
  ["+ counts answers the host has not read", { knowledge: "answered" }],
  ["+ last lane first, polls only who owes answers", { isSticky: true }],
  ["+ worker spins 100 µs", { workerSpinUs: 100 }],
  ["+ PACK_LIMIT 50 µs, taken back in lots of 50 µs", { packLimitUs: 50, stealGrainUs: 50 }],
  ["+ packs below 10 µs × awake workers", { packPerAwakeUs: 10 }],
  ["+ LONG 100 µs", { longUs: 100 }],
  ["+ short calls overtake in the host's queue", { isOvertaking: true }],
  ["+ not behind a call 10 times as long", { behindUs: 1000 }],
];

const steps = (cores: number): Section => () => {
  let policy = AS_WORDED;
  const rows = STEPS.map(([name, change]) => {
    policy = { ...policy, ...change };
    return [name, ...suiteRow({ cores, threads: cores, policy })];
  });
  return table(["", ...SUITE_HEADER], rows);
};

/** One change at a time, from the amended policy. */
const KNOBS: readonly (readonly [string, Partial<Policy>])[] = [
  ["amended", {}],
  ...[25, 100, 200, 400].map((us) => [`PACK_LIMIT ${us} µs`, { packLimitUs: us }] as const),
  ["packing does not grow with awake workers", { packPerAwakeUs: 0 }],
  ["it grows by 20 µs", { packPerAwakeUs: 20 }],
  ...[50, 200, 1000].map((us) => [`LONG ${us} µs`, { longUs: us }] as const),
  ...[1, 4].map((depth) => [`DEPTH ${depth}`, { depth }] as const),
  ...[0, 20, 50, 200].map((us) => [`worker spins ${us} µs`, { workerSpinUs: us }] as const),
  ...[0, 20, 100].map((us) => [`host spins ${us} µs`, { hostSpinUs: us }] as const),
  ["a sleeping lane counts as empty, nothing else", { knowledge: "asleep" }],
  ["nothing is taken back", { isStealing: false }],
];

const knobs = (cores: number, costs: Costs): Section => () => {
  const rows = KNOBS.map(([name, change]) => {
    const place = { cores, threads: cores, costs, policy: { ...AMENDED, ...change } };
    return [name, ...suiteRow(place)];
  });
  return table(["", ...SUITE_HEADER], rows);
};

const CHOICES: readonly Choice[] = [
  "adaptive",
  "roundRobin",
  "leastLoaded",
  "firstIdle",
  "randomLane",
];

function policies(): string[] {
  const rows = [2, 8, 32].flatMap((cores) =>
    CHOICES.map((choice) => [
      `${cores}`,
      choice,
      ...suiteRow({ cores, threads: cores, policy: { ...AMENDED, choice } }),
    ])
  );
  return table(["cores", "", ...SUITE_HEADER], rows);
}

const threadCounts = (cores: number): number[] => {
  const counts: number[] = [];
  for (let threads = 1; threads < cores; threads *= 2) counts.push(threads);
  return [...new Set([...counts, Math.max(1, cores - 1), cores])];
};

/** Batches by cores and threads. On few cores more threads than cores too. */
const threads = (costs: Costs, allCores: readonly number[]): Section => () => {
  const rows = allCores.flatMap((cores) => {
    const counts = cores === 2 ? [1, 2, 4, 8] : threadCounts(cores);
    return counts.map((count) => {
      const place: Place = { cores, threads: count, costs };
      const mix = runMix(place, 0.9);
      return [
        `${cores}`,
        `${count}`,
        ...BATCH_WORKLOADS.map(([, groups, rounds]) =>
          duration(runBatches(place, groups, rounds).roundMean)
        ),
        `${duration(lateness(mix, 0, 0.5))} / ${duration(lateness(mix, 0, 0.99))}`,
        mix.wakesPerCall.toFixed(2),
        mix.spinCores.toFixed(1),
      ];
    });
  });
  const names = BATCH_WORKLOADS.map(([name]) => name);
  const last = ["mix 90 %: 5 µs p50 / p99", "wakes per call", "cores spinning"];
  return table(["cores", "threads", ...names, ...last], rows);
};

const SERVICES_US: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 1000];

/** Cores kept busy with tasks, of those there are, in one large batch. */
function bottleneck(): string[] {
  const rows = [2, 8, 32, 64, 128].flatMap((cores) =>
    COSTS.map(([name, costs]) => {
      const cells = SERVICES_US.map((serviceUs) => {
        const count = Math.min(20_000, cores * Math.max(50, Math.ceil(20_000 / serviceUs)));
        const place: Place = { cores, threads: cores, costs };
        const outcome = runBatches(place, [{ count, serviceUs }], 1);
        return digits(count * serviceUs / outcome.roundMean);
      });
      return [`${cores}`, name, ...cells];
    })
  );
  return table(["cores", "", ...SERVICES_US.map((us) => `${us} µs`)], rows);
}

/** Estimates that are wrong, tasks that cannot be estimated, and paired cores. */
function robustness(): string[] {
  const rows = [2, 8, 32].flatMap((cores) => {
    const at: Place = { cores, threads: cores };
    const cases: readonly (readonly [string, Place, boolean])[] = [
      ["amended", at, false],
      ["estimates 3 times too high", { ...at, estimateFactor: 3 }, false],
      ["estimates 3 times too low", { ...at, estimateFactor: 1 / 3 }, false],
      ["paired cores (SMT)", { ...at, isSmt: true }, false],
      ["mix is one task", at, true],
      [
        "mix is one task, nothing taken back",
        { ...at, policy: { ...AMENDED, isStealing: false } },
        true,
      ],
    ];
    return cases.map(([name, place, isOneTask]) => {
      const batch = (index: number) => {
        const [, groups, rounds] = BATCH_WORKLOADS[index]!;
        return duration(runBatches(place, groups, rounds).roundMean);
      };
      const mix = runMix(place, 0.5, isOneTask);
      const late = `${duration(lateness(mix, 0, 0.5))} / ${duration(lateness(mix, 0, 0.99))}`;
      return [`${cores}`, name, ...[2, 3, 4, 5].map(batch), late];
    });
  });
  const names = [2, 3, 4, 5].map((index) => BATCH_WORKLOADS[index]![0]);
  return table(["cores", "", ...names, "mix 50 %: 5 µs p50 / p99"], rows);
}

/** One large batch of tasks of half of PACK_LIMIT or more: wakes against work handed over by each. */
function rounds(): string[] {
  const cases: readonly (readonly [string, Policy])[] = [
    ["as worded", AS_WORDED],
    ["amended, no rounds, PACK_LIMIT 50 µs", { ...AMENDED, packPerAwakeUs: 0 }],
    ["the same, PACK_LIMIT 100 µs", { ...AMENDED, packPerAwakeUs: 0, packLimitUs: 100 }],
    ["amended", AMENDED],
  ];
  const rows = cases.map(([name, policy]) => {
    const cells = [8, 16, 32, 64].flatMap((cores) => {
      const place: Place = { cores, threads: cores, policy };
      const outcome = runBatches(place, [{ count: 400 * cores, serviceUs: 50 }], 1);
      const busy = 400 * cores * 50 / outcome.roundMean;
      return [digits(busy), outcome.wakesPerCall.toFixed(2)];
    });
    return ["nested VM", name, ...cells];
  });
  const header = [8, 16, 32, 64].flatMap((cores) => [`busy of ${cores}`, "wakes per call"]);
  return table(["", "", ...header], rows);
}

const SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6];

/** The mix at 90 % by several seeds: how much of a difference is chance. */
function seeds(): string[] {
  const cases: readonly (readonly [string, Policy])[] = [
    ["as worded", AS_WORDED],
    ["amended", AMENDED],
    ["amended, short calls do not overtake", { ...AMENDED, isOvertaking: false }],
    ["amended, but behind a call 10 times as long", { ...AMENDED, behindUs: Infinity }],
    ["amended, nothing taken back", { ...AMENDED, isStealing: false }],
    ["amended, DEPTH 1", { ...AMENDED, depth: 1 }],
  ];
  const rows = [2, 8].flatMap((cores) =>
    cases.map(([name, policy]) => {
      const runs = SEEDS.map((seed) => runMix({ cores, threads: cores, policy, seed }, 0.9));
      const spread = (part: number, share: number) => {
        const sorted = runs.map((run) => lateness(run, part, share)).sort((a, b) => a - b);
        const median = (sorted[2]! + sorted[3]!) / 2;
        return `${duration(median)} (${duration(sorted[0]!)} to ${duration(sorted[5]!)})`;
      };
      return [`${cores}`, name, spread(0, 0.5), spread(0, 0.99), spread(1, 0.99)];
    })
  );
  return table(["cores", "", "5 µs p50", "5 µs p99", "200 µs p99"], rows);
}

export const SECTIONS: Readonly<Record<string, Section>> = {
  measured,
  "steps-2": steps(2),
  "steps-8": steps(8),
  "steps-32": steps(32),
  "steps-128": steps(128),
  "knobs-8": knobs(8, NESTED_VM),
  "knobs-32": knobs(32, NESTED_VM),
  "knobs-32-bare-metal": knobs(32, BARE_METAL),
  policies,
  threads: threads(NESTED_VM, [1, 2, 8, 32]),
  "threads-128": threads(NESTED_VM, [128]),
  "threads-bare-metal": threads(BARE_METAL, [8, 32, 128]),
  rounds,
  bottleneck,
  seeds,
  robustness,
};
