/** Threads that were stopped and wake from a wait all the same: they write nothing that may belong to another by then. */
import { expect, test } from "vitest";
import { Gate, GATE_BYTES } from "../../../src/shared/locks/gate.ts";
import { CALLED, WAITING } from "../../../src/shared/locks/waiters.ts";
import { ObjectMemory } from "../../../src/shared/memory.ts";
import { type SimulatedThread, SimulatedThreads } from "../../support/shared-threads.ts";

const FIRST_STATE = 528 + 2;

function createBench() {
  const threads = new SimulatedThreads();
  const memory = ObjectMemory.create("mutex", GATE_BYTES, threads.main.thread);
  Gate.initialize(memory, 1, 1);
  const gateOf = (thread: SimulatedThread) =>
    new Gate(thread.adopt("mutex", memory.buffer), "mutex");
  const [holder, stopped, next] = threads.workers(3) as [
    SimulatedThread,
    SimulatedThread,
    SimulatedThread,
  ];
  return { threads, holder, stopped, next, gateOf, state: () => memory.view.i32[FIRST_STATE] };
}

test("a stopped thread that blocked does not give up the place of its successor", () => {
  const { threads, holder, stopped, next, gateOf, state } = createBench();
  const gate = gateOf(holder);
  gate.tryAcquire(1, false);
  const successor = gateOf(next);
  let place = -1;
  stopped.onWait = () => {
    threads.root.end(stopped.token);
    place = successor.arrive(1, false)!.place; // it repairs, and takes the record
  };
  expect(() => gateOf(stopped).acquireSync(1, false, undefined, "Waiting")).toThrow("was stopped");
  expect([place, state()]).toEqual([0, WAITING]);
  gate.release(1);
  expect(state()).toBe(CALLED);
});

test("nor one that waits in its event loop, when its signal is aborted", () => {
  const { threads, holder, stopped, next, gateOf, state } = createBench();
  const gate = gateOf(holder);
  gate.tryAcquire(1, false);
  let abort = (): void => {};
  const signal = {
    aborted: false,
    addEventListener: (_type: string, listener: () => void) => abort = listener,
    removeEventListener: () => {},
  } as unknown as AbortSignal;
  void gateOf(stopped).acquire(1, false, { signal }, "").catch(() => {});
  threads.root.end(stopped.token);
  gateOf(next).arrive(1, false);
  abort();
  expect(state()).toBe(WAITING);
});
