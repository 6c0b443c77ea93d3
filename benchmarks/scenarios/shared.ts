/**
 * `shared`: the objects of `heddle/shared` beside what they replace: a map beside hot calls and a `Map` of one thread, a channel beside
 * the raw ring and channels of Go and Rust, a mutex beside theirs. Everything takes turns in one process, which starts
 * the programs in Go and Rust in their turns; each turn is a sample.
 */
import { createPool } from "../../dist/mod.js";
import { Barrier, channel, Mutex, SharedMap, SharedVector } from "../../dist/shared.js";
import { RING_HEADER_BYTES } from "../../src/ring/ring-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { Figures, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { type NativeFigure, nativePrograms } from "../shared/native.ts";
import { type Kind, timeCalls } from "../shared/tasks.ts";
import * as shared from "./shared-cases.ts";

type Tasks = typeof import("../shared/tasks.ts");

const NS_PER_MS = 1e6;
const TURNS = 8;
const WARM_UP_TURNS = 3;
const QUICK_TURNS = 2;
const QUICK_WARM_UP_TURNS = 1;
/** A quick run has this part of the operations. */
const QUICK_DIVISOR = 10;
/** Counts are multiples of it: of the variants of a value, and of what one thread sends before it receives. */
const UNIT = 512;
/** Four times the records of a full channel: a ring that begins anew skips up to three quarters of it. */
const RING_BYTES = 4 * 16 * shared.CAPACITY;

const SIZES: Readonly<Record<Kind, number>> = {
  number: shared.NUMBER_BYTES,
  object: shared.OBJECT_BYTES,
};

/** One figure, and what takes a sample of it: nanoseconds for each operation. */
interface Figure {
  readonly contender: string;
  readonly case: string;
  readonly size: number;
  readonly take: () => Promise<number>;
}

const createWorker = () =>
  createPool({ threads: 1 })<Tasks>(new URL("../shared/tasks.ts", import.meta.url));
type Worker = ReturnType<typeof createWorker>;

/** A task in each of two workers, which have a pool each: both run at the same time. */
interface Workers {
  readonly one: Worker;
  readonly other: Worker;
}

/** `count` of about that many operations. */
type Count = (operations: number) => number;

async function mapFigures({ one }: Workers, count: Count): Promise<Figure[]> {
  const map = new SharedMap<string, unknown>();
  await one.call.fill(map);
  const of = (kind: Kind, get: number, set: number, call: number): Figure[] => {
    const size = SIZES[kind];
    const lookUp = (key: string): Promise<unknown> => one.call.lookUp(key);
    const figure = (contender: string, name: string, take: Figure["take"]): Figure => ({
      contender,
      case: name,
      size,
      take,
    });
    return [
      figure(shared.HEDDLE, shared.GET, () => one.call.get(map, kind, count(get))),
      figure(shared.CALL, shared.GET, () => timeCalls(lookUp, kind, count(call))),
      figure(shared.MAP, shared.GET, () => one.call.getOfMap(kind, count(500_000))),
      ...(kind === "object"
        ? [figure(shared.CLONE, shared.GET, () => one.call.clone(kind, count(5000)))]
        : []),
      figure(shared.HEDDLE, shared.SET, () => one.call.set(map, kind, count(set))),
      figure(shared.MAP, shared.SET, () => one.call.setOfMap(kind, count(500_000))),
    ];
  };
  return [...of("number", 100_000, 50_000, 5000), ...of("object", 10_000, 10_000, 5000)];
}

function channelFigures({ one, other }: Workers, count: Count): Figure[] {
  const [sender, receiver] = channel<unknown>({ capacity: shared.CAPACITY });
  const of = (kind: Kind, operations: number): Figure[] => [
    {
      contender: shared.HEDDLE,
      case: shared.CHANNEL_ALONE,
      size: SIZES[kind],
      take: () => one.call.sendAndReceive(sender, receiver, kind, count(operations)),
    },
    {
      contender: shared.HEDDLE,
      case: shared.CHANNEL,
      size: SIZES[kind],
      take: async () => {
        const received = one.call.receive(receiver, kind, count(operations));
        const sent = other.call.send(sender, kind, count(operations));
        return (await Promise.all([received, sent]))[0];
      },
    },
  ];
  return [...of("number", 100_000), ...of("object", 20_000)];
}

/** A ring is used once: its roles cannot be given back. */
function createRing(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(RING_HEADER_BYTES + RING_BYTES);
  SpscRing.create(buffer, 0, RING_BYTES);
  return buffer;
}

const ringFigures = ({ one, other }: Workers, count: Count): Figure[] => [
  {
    contender: shared.RING,
    case: shared.CHANNEL_ALONE,
    size: shared.NUMBER_BYTES,
    take: () => one.call.sendAndReceiveByRing(createRing(), count(500_000)),
  },
  {
    contender: shared.RING,
    case: shared.CHANNEL,
    size: shared.NUMBER_BYTES,
    take: async () => {
      const ring = createRing();
      const received = one.call.receiveByRing(ring, count(500_000));
      const sent = other.call.sendByRing(ring, count(500_000));
      return (await Promise.all([received, sent]))[0];
    },
  },
];

function mutexFigures({ one, other }: Workers, count: Count): Figure[] {
  const mutex = new Mutex();
  const barrier = new Barrier(2);
  const total = new SharedVector("f64", { length: 1 });
  let expected = 0;
  const take = async (workers: readonly Worker[], locks: number): Promise<number> => {
    const group = workers.length === 1 ? undefined : barrier;
    const periods = await Promise.all(
      workers.map(({ call }) => call.lock(mutex, total, locks, group)),
    );
    expected += locks * workers.length;
    if (total.at(0) !== expected) throw new Error(`${total.at(0)} locks instead of ${expected}`);
    const startMs = Math.min(...periods.map((each) => each.startMs));
    const endMs = Math.max(...periods.map((each) => each.endMs));
    return (endMs - startMs) * NS_PER_MS / (locks * workers.length);
  };
  const place = { contender: shared.HEDDLE, case: shared.MUTEX };
  return [
    { ...place, size: 1, take: () => take([one], count(50_000)) },
    { ...place, size: 2, take: () => take([one, other], count(20_000)) },
  ];
}

/** Takes a sample of each figure in each turn. */
async function takeTurns(
  figures: readonly Figure[],
  natives: readonly (() => readonly NativeFigure[])[],
  turns: number,
  warmUpTurns: number,
): Promise<RoundSamples[]> {
  const samples = new Figures();
  const add = ({ contender, case: name, size }: Omit<Figure, "take">, ns: number): void =>
    samples.add({ contender, case: name, size, unit: "ns" }, ns);
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    for (const figure of figures) {
      const ns = await figure.take();
      if (turn >= 0) add(figure, ns);
    }
    if (turn < 0) continue; // their programs are compiled
    for (const run of natives) for (const figure of run()) add(figure, figure.ns);
  }
  return samples.all;
}

/** Runs one round of all contenders, and prints their figures. */
export async function run(): Promise<never> {
  const { isQuick } = readArguments();
  const divisor = isQuick ? QUICK_DIVISOR : 1;
  const count: Count = (operations) => UNIT * Math.ceil(operations / divisor / UNIT);
  const { runs, gaps } = nativePrograms(isQuick);
  const workers: Workers = { one: createWorker(), other: createWorker() };
  const figures = [
    ...await mapFigures(workers, count),
    ...channelFigures(workers, count),
    ...ringFigures(workers, count),
    ...mutexFigures(workers, count),
  ];
  const turns = isQuick ? QUICK_TURNS : TURNS;
  const warmUpTurns = isQuick ? QUICK_WARM_UP_TURNS : WARM_UP_TURNS;
  const found: (RoundSamples | RoundGap)[] = [
    ...await takeTurns(figures, runs, turns, warmUpTurns),
    ...gaps,
  ];
  await Promise.all([workers.one.shutdown(), workers.other.shutdown()]);
  return finish(found);
}
