/**
 * One thread of a lockstep run: every atomic operation of the code under test becomes a step that the
 * controller grants. `Atomics.wait` and `notify` are replaced by a model with an explicit
 * first-in-first-out queue of waiters.
 */
import { parentPort, workerData } from "node:worker_threads";
import * as protocol from "./lockstep-protocol.ts";
import { scenarios } from "./scenarios.ts";

const { wordOf, TURN, STATE, ADDRESS, TICKET, OUTCOME } = protocol;
const { control, memory, thread, scenario, threads } = workerData as {
  control: Int32Array<SharedArrayBuffer>;
  memory: SharedArrayBuffer;
  thread: number;
  threads: number;
  scenario: string;
};

const real = {
  load: Atomics.load,
  store: Atomics.store,
  add: Atomics.add,
  exchange: Atomics.exchange,
  compareExchange: Atomics.compareExchange,
  wait: Atomics.wait,
  notify: Atomics.notify,
};
let turn = 0;

/** Says where this thread is, and waits until it is given its turn. */
function yieldWith(state: number): void {
  real.store(control, wordOf(thread, STATE), state);
  real.notify(control, wordOf(thread, STATE));
  while (real.load(control, wordOf(thread, TURN)) === turn) {
    real.wait(control, wordOf(thread, TURN), turn);
  }
  turn++;
}

/** Waits for the turn to perform an operation, and logs it. */
function step(operation: (typeof protocol.OPERATIONS)[number], address = 0): void {
  yieldWith(protocol.AT_STEP);
  const at = real.add(control, protocol.STEPS, 1);
  const entry = [thread, protocol.OPERATIONS.indexOf(operation), address];
  control.set(entry, protocol.STEPS + 1 + 3 * (at % protocol.MAX_STEPS));
}

const keyOf = (words: Int32Array, index: number): number => words.byteOffset + 4 * index;

type Words = Int32Array<SharedArrayBuffer>;
Object.assign(Atomics, {
  load: (
    words: Words,
    index: number,
  ) => (step("load", keyOf(words, index)), real.load(words, index)),
  store: (
    words: Words,
    index: number,
    value: number,
  ) => (step("store", keyOf(words, index)), real.store(words, index, value)),
  add: (
    words: Words,
    index: number,
    value: number,
  ) => (step("add", keyOf(words, index)), real.add(words, index, value)),
  exchange: (words: Words, index: number, value: number) => (
    step("exchange", keyOf(words, index)), real.exchange(words, index, value)
  ),
  compareExchange: (words: Words, index: number, expected: number, value: number) => (
    step("compareExchange", keyOf(words, index)),
      real.compareExchange(words, index, expected, value)
  ),
  pause: () => yieldWith(protocol.PAUSED),
  wait: (words: Words, index: number, expected: number, timeout = Infinity) => {
    step("wait", keyOf(words, index));
    if (real.load(words, index) !== expected) return "not-equal";
    real.store(control, wordOf(thread, ADDRESS), keyOf(words, index));
    real.store(control, wordOf(thread, TICKET), real.add(control, protocol.TICKETS, 1));
    yieldWith(timeout === Infinity ? protocol.BLOCKED : protocol.BLOCKED_WITH_TIMEOUT);
    const outcome = real.exchange(control, wordOf(thread, OUTCOME), 0);
    return outcome === protocol.TIMED_OUT ? "timed-out" : "ok";
  },
  notify: (words: Words, index: number, count = Infinity) => {
    step("notify", keyOf(words, index));
    const waiting: { other: number; ticket: number }[] = [];
    for (let other = 0; other < threads; other++) {
      const state = real.load(control, wordOf(other, STATE));
      if (
        (state === protocol.BLOCKED || state === protocol.BLOCKED_WITH_TIMEOUT) &&
        real.load(control, wordOf(other, ADDRESS)) === keyOf(words, index)
      ) waiting.push({ other, ticket: real.load(control, wordOf(other, TICKET)) });
    }
    waiting.sort((a, b) => a.ticket - b.ticket);
    const woken = waiting.slice(0, count);
    for (const { other } of woken) {
      real.store(control, wordOf(other, OUTCOME), protocol.NOTIFIED);
      real.store(control, wordOf(other, STATE), protocol.WOKEN);
    }
    return woken.length;
  },
});

const role = scenarios[scenario]!.threads[thread]!;
for (let run = 1;; run++) {
  while (real.load(control, protocol.RUN) !== run) {
    real.wait(control, protocol.RUN, real.load(control, protocol.RUN) === run ? -1 : run - 1);
  }
  turn = real.load(control, wordOf(thread, TURN));
  try {
    step("start");
    role(memory);
    real.store(control, wordOf(thread, STATE), protocol.FINISHED);
  } catch (error) {
    parentPort!.postMessage(error instanceof Error ? error.stack : String(error));
    real.store(control, wordOf(thread, STATE), protocol.FAILED);
  }
  real.notify(control, wordOf(thread, STATE));
}
