/**
 * What workers measure of shared objects. Tasks that measure return nanoseconds for each operation, and throw if what they have
 * read is not what was written.
 */
import type {
  Barrier,
  Mutex,
  Receiver,
  Sender,
  SharedMap,
  SharedVector,
} from "../../dist/shared.js";
import "../../dist/shared.js";
import { EMPTY, type RingConsumer } from "../../src/ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../../src/ring/producer.ts";
import { RECORD_HEADER_BYTES } from "../../src/ring/record-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { now } from "../harness/clock.ts";
import { user } from "../payloads/objects.ts";
import { ALONE_BATCH } from "../scenarios/shared-cases.ts";

export type Kind = "number" | "object";

const NS_PER_MS = 1e6;
/** Different values, used in turn. Counts of operations are multiples of it. */
export const VARIANTS = 64;
const MASK = VARIANTS - 1;

const variants = <T>(create: (n: number) => T): readonly T[] =>
  Array.from({ length: VARIANTS }, (_, n) => create(n));

const VALUES: Readonly<Record<Kind, readonly unknown[]>> = {
  number: variants((n) => n + 0.5),
  object: variants(user),
};
const KEYS: Readonly<Record<Kind, readonly string[]>> = {
  number: variants((n) => `number ${n}`),
  object: variants((n) => `object ${n}`),
};

/** What stands for a value in a sum. */
const numberIn = (value: unknown): number =>
  typeof value === "number" ? value : (value as { readonly id: number }).id;

const sumOf = (kind: Kind): number =>
  VALUES[kind].reduce((sum: number, value) => sum + numberIn(value), 0);

/** Nanoseconds for each of `count` operations that have read `sum` in all. */
function checked(elapsedMs: number, kind: Kind, count: number, sum: number): number {
  const expected = sumOf(kind) * (count / VARIANTS);
  if (sum !== expected) throw new Error(`read ${sum} instead of ${expected}`);
  return elapsedMs * NS_PER_MS / count;
}

const ownMap = new Map<string, unknown>(
  (["number", "object"] as const).flatMap((kind) =>
    KEYS[kind].map((key, n) => [key, VALUES[kind][n]] as const)
  ),
);

/** A hot call of it is compared with reading a shared map. */
export const lookUp = (key: string): unknown => ownMap.get(key);

/** Calls that make the pool hot, uncounted. */
const WARM_UP_CALLS = 1000;

/** Calls one after the other: in the thread that has the pool. */
export async function timeCalls(
  call: (key: string) => Promise<unknown>,
  kind: Kind,
  count: number,
): Promise<number> {
  const keys = KEYS[kind];
  for (let n = 0; n < WARM_UP_CALLS; n++) await call(keys[n & MASK]!);
  let sum = 0;
  const startMs = performance.now();
  for (let n = 0; n < count; n++) sum += numberIn(await call(keys[n & MASK]!));
  return checked(performance.now() - startMs, kind, count, sum);
}

// Loops are not shared between kinds of maps: the engine compiles each for the one that it sees.

export function get(map: SharedMap<string, unknown>, kind: Kind, count: number): number {
  const keys = KEYS[kind];
  let sum = 0;
  const startMs = performance.now();
  for (let n = 0; n < count; n++) sum += numberIn(map.get(keys[n & MASK]!));
  return checked(performance.now() - startMs, kind, count, sum);
}

export function getOfMap(kind: Kind, count: number): number {
  const keys = KEYS[kind];
  let sum = 0;
  const startMs = performance.now();
  for (let n = 0; n < count; n++) sum += numberIn(ownMap.get(keys[n & MASK]!));
  return checked(performance.now() - startMs, kind, count, sum);
}

export function set(map: SharedMap<string, unknown>, kind: Kind, count: number): number {
  const keys = KEYS[kind];
  const values = VALUES[kind];
  const startMs = performance.now();
  for (let n = 0; n < count; n++) map.set(keys[n & MASK]!, values[n & MASK]);
  return (performance.now() - startMs) * NS_PER_MS / count;
}

export function setOfMap(kind: Kind, count: number): number {
  const keys = KEYS[kind];
  const values = VALUES[kind];
  const startMs = performance.now();
  for (let n = 0; n < count; n++) ownMap.set(keys[n & MASK]!, values[n & MASK]);
  return (performance.now() - startMs) * NS_PER_MS / count;
}

export function clone(kind: Kind, count: number): number {
  const values = VALUES[kind];
  let sum = 0;
  const startMs = performance.now();
  for (let n = 0; n < count; n++) sum += numberIn(structuredClone(values[n & MASK]));
  return checked(performance.now() - startMs, kind, count, sum);
}

/** Sends values to the thread that runs `receive`. */
export function send(sender: Sender<unknown>, kind: Kind, count: number): void {
  const values = VALUES[kind];
  for (let n = 0; n < count; n++) sender.sendSync(values[n & MASK]);
  sender.close();
}

/** The clock starts when the first value is there: both threads run then. */
export function receive(receiver: Receiver<unknown>, kind: Kind, count: number): number {
  let sum = numberIn(receiver.receiveSync());
  const startMs = performance.now();
  for (let n = 1; n < count; n++) sum += numberIn(receiver.receiveSync());
  const elapsedMs = performance.now() - startMs;
  receiver.close();
  return checked(elapsedMs, kind, count, sum);
}

export function sendAndReceive(
  sender: Sender<unknown>,
  receiver: Receiver<unknown>,
  kind: Kind,
  count: number,
): number {
  const values = VALUES[kind];
  let sum = 0;
  const startMs = performance.now();
  for (let done = 0; done < count; done += ALONE_BATCH) {
    for (let n = 0; n < ALONE_BATCH; n++) sender.sendSync(values[n & MASK]);
    for (let n = 0; n < ALONE_BATCH; n++) sum += numberIn(receiver.receiveSync());
  }
  const elapsedMs = performance.now() - startMs;
  sender.close();
  receiver.close();
  return checked(elapsedMs, kind, count, sum);
}

const pause: () => void = (Atomics as { pause?: () => void }).pause ?? (() => {});
const RECORD_BYTES = RECORD_HEADER_BYTES + Float64Array.BYTES_PER_ELEMENT;

function put(producer: RingProducer, value: number): void {
  let index = producer.claim(RECORD_BYTES);
  while (index === NO_SPACE) {
    pause();
    index = producer.claim(RECORD_BYTES);
  }
  producer.memory.f64[(index + RECORD_HEADER_BYTES) >> 3] = value;
  producer.commit(index + RECORD_BYTES);
}

function take(consumer: RingConsumer): number {
  let index = consumer.poll();
  while (index === EMPTY) {
    pause();
    index = consumer.poll();
  }
  consumer.verify(index);
  const value = consumer.memory.f64[(index + RECORD_HEADER_BYTES) >> 3]!;
  consumer.release();
  return value;
}

export function sendByRing(buffer: SharedArrayBuffer, count: number): void {
  const producer = SpscRing.attach(buffer, 0).takeProducer();
  const values = VALUES.number as readonly number[];
  for (let n = 0; n < count; n++) put(producer, values[n & MASK]!);
}

export function receiveByRing(buffer: SharedArrayBuffer, count: number): number {
  const consumer = SpscRing.attach(buffer, 0).takeConsumer();
  let sum = take(consumer);
  const startMs = performance.now();
  for (let n = 1; n < count; n++) sum += take(consumer);
  return checked(performance.now() - startMs, "number", count, sum);
}

export function sendAndReceiveByRing(buffer: SharedArrayBuffer, count: number): number {
  const ring = SpscRing.attach(buffer, 0);
  const producer = ring.takeProducer();
  const consumer = ring.takeConsumer();
  const values = VALUES.number as readonly number[];
  let sum = 0;
  const startMs = performance.now();
  for (let done = 0; done < count; done += ALONE_BATCH) {
    for (let n = 0; n < ALONE_BATCH; n++) put(producer, values[n & MASK]!);
    for (let n = 0; n < ALONE_BATCH; n++) sum += take(consumer);
  }
  return checked(performance.now() - startMs, "number", count, sum);
}

/** When a thread began and ended; both by `harness/clock.ts`. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

/** Adds one to an element under the mutex. With a barrier, all threads of it begin at once. */
export function lock(
  mutex: Mutex,
  total: SharedVector<"f64">,
  count: number,
  barrier?: Barrier,
): Period {
  const elements = total.view();
  barrier?.waitSync();
  const startMs = now();
  for (let n = 0; n < count; n++) {
    const guard = mutex.lockSync();
    elements[0] = elements[0]! + 1;
    guard.release();
  }
  return { startMs, endMs: now() };
}

/** Writes what `get` reads. */
export function fill(map: SharedMap<string, unknown>): void {
  for (const [key, value] of ownMap) map.set(key, value);
}
