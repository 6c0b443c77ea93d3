/** What workers measure of shared objects. Each returns nanoseconds for each operation. */
import { createPool, task } from "../../dist/mod.js";
import type { Mutex, Receiver, Sender, SharedMap } from "../../dist/shared.js";
import "../../dist/shared.js";

/** An object that takes about 200 bytes. */
export const person = {
  id: 12_345,
  name: "Ada Lovelace",
  email: "ada@example.org",
  tags: ["analyst", "poet"],
  address: { street: "12 St James's Square", city: "London", zip: "SW1Y 4JH" },
  active: true,
};

const each = (startMs: number, count: number): number =>
  ((performance.now() - startMs) * 1e6) / count;

export const get = task({
  f: ([map, key, count]: [SharedMap<string, unknown>, string, number]): number => {
    const startMs = performance.now();
    for (let n = 0; n < count; n++) map.get(key);
    return each(startMs, count);
  },
});

export const set = task({
  f: ([map, key, value, count]: [SharedMap<string, unknown>, string, unknown, number]): number => {
    const startMs = performance.now();
    for (let n = 0; n < count; n++) map.set(key, value);
    return each(startMs, count);
  },
});

export const getOfMap = task({
  f: ([value, count]: [unknown, number]): number => {
    const map = new Map<string, unknown>([["key", value]]);
    let last: unknown;
    const startMs = performance.now();
    for (let n = 0; n < count; n++) last = map.get("key");
    return last === undefined ? 0 : each(startMs, count);
  },
});

export const cloneOf = task({
  f: ([value, count]: [unknown, number]): number => {
    const startMs = performance.now();
    for (let n = 0; n < count; n++) structuredClone(value);
    return each(startMs, count);
  },
});

export const send = task({
  f: ([sender, value, count]: [Sender<unknown>, unknown, number]): void => {
    for (let n = 0; n < count; n++) sender.sendSync(value);
  },
});

export const receive = task({
  f: ([receiver, count]: [Receiver<unknown>, number]): number => {
    receiver.receiveSync(); // both are running
    const startMs = performance.now();
    for (let n = 1; n < count; n++) receiver.receiveSync();
    return each(startMs, count - 1);
  },
});

export const lock = task({
  f: ([mutex, count]: [Mutex, number]): number => {
    const startMs = performance.now();
    for (let n = 0; n < count; n++) mutex.lockSync().release();
    return each(startMs, count);
  },
});

export const echo = task({ f: (value: unknown): unknown => value });

export const createBenchmarkPool = (threads: number) =>
  createPool({ threads })({ get, set, getOfMap, cloneOf, send, receive, lock, echo });
