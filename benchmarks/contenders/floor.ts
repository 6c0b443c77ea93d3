/**
 * The raw ring floor: fixed 64-byte slots, no codec, no pool, no errors, both sides spinning. What no
 * library on rings and promises can beat; ratios to it say what heddle adds.
 *
 * The worker never leaves its loop, and the host turns its event loop every 64 polls.
 */
import { setImmediate } from "node:timers";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import type { LatencyContender } from "./types.ts";

const SLOTS = 1024;
const MASK = SLOTS - 1;
const HEADER_WORDS = 64;
const REQUEST_TAIL = 0;
const REQUEST_HEAD = 16;
const RESPONSE_TAIL = 32;
const MAX_LOOKS = 2000;
const POLLS_PER_TURN = 64;
const pause: () => void = (Atomics as { pause?: () => void }).pause ?? (() => {});
const FLOOR = "heddle-benchmark-floor";

interface Views {
  readonly header: Int32Array;
  readonly requestIds: Int32Array;
  readonly requestValues: Float64Array;
  readonly responseIds: Int32Array;
  readonly responseValues: Float64Array;
}

function viewsOf(buffer: SharedArrayBuffer): Views {
  const requests = HEADER_WORDS * 4;
  const responses = requests + SLOTS * 64;
  return {
    header: new Int32Array(buffer, 0, HEADER_WORDS),
    requestIds: new Int32Array(buffer, requests, SLOTS * 16),
    requestValues: new Float64Array(buffer, requests, SLOTS * 8),
    responseIds: new Int32Array(buffer, responses, SLOTS * 16),
    responseValues: new Float64Array(buffer, responses, SLOTS * 8),
  };
}

function serve(buffer: SharedArrayBuffer): never {
  const { header, requestIds, requestValues, responseIds, responseValues } = viewsOf(buffer);
  let head = 0;
  let tail = 0;
  for (;;) {
    const end = Atomics.load(header, REQUEST_TAIL);
    if (end === head) {
      pause();
      continue;
    }
    while (head !== end) {
      const from = head & MASK;
      const to = tail & MASK;
      responseIds[to * 16] = requestIds[from * 16]!;
      responseValues[to * 8 + 1] = requestValues[from * 8 + 1]!;
      head++;
      tail++;
      Atomics.store(header, RESPONSE_TAIL, tail);
    }
    Atomics.store(header, REQUEST_HEAD, head);
  }
}

export const floor: LatencyContender = {
  name: "raw ring floor",
  async start() {
    const buffer = new SharedArrayBuffer(HEADER_WORDS * 4 + SLOTS * 128);
    const worker = new Worker(new URL(import.meta.url), { workerData: { [FLOOR]: buffer } });
    await new Promise((resolve) => worker.once("online", resolve));
    const { header, requestIds, requestValues, responseIds, responseValues } = viewsOf(buffer);
    const resolvers: (((value: number) => void) | undefined)[] = new Array(SLOTS).fill(undefined);
    const free = Array.from({ length: SLOTS }, (_, slot) => slot);
    let tail = 0;
    let head = 0;
    let inFlight = 0;
    let isScheduled = false;
    let polls = 0;
    const drain = (): boolean => {
      const end = Atomics.load(header, RESPONSE_TAIL);
      const found = head !== end;
      while (head !== end) {
        const slot = head & MASK;
        const id = responseIds[slot * 16]!;
        const value = responseValues[slot * 8 + 1]!;
        head++;
        const resolve = resolvers[id]!;
        resolvers[id] = undefined;
        free.push(id);
        inFlight--;
        resolve(value);
      }
      return found;
    };
    const poll = (): void => {
      isScheduled = false;
      if (inFlight === 0) return;
      for (let look = 0; look < MAX_LOOKS && !drain(); look++) pause();
      if (inFlight > 0) schedule();
    };
    const schedule = (): void => {
      if (isScheduled) return;
      isScheduled = true;
      if (++polls > POLLS_PER_TURN) {
        polls = 0;
        setImmediate(poll);
      } else queueMicrotask(poll);
    };
    return {
      echo: (value) =>
        new Promise<number>((resolve) => {
          const id = free.pop()!;
          resolvers[id] = resolve;
          const slot = tail & MASK;
          requestIds[slot * 16] = id;
          requestValues[slot * 8 + 1] = value as number;
          tail++;
          Atomics.store(header, REQUEST_TAIL, tail);
          inFlight++;
          schedule();
        }),
      close: () => worker.terminate(),
    };
  },
};

const served = (workerData as { [FLOOR]?: SharedArrayBuffer } | null)?.[FLOOR];
if (!isMainThread && served !== undefined) serve(served);
