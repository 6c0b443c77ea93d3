/** The order in which calls that wait on the host come out. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CallQueue,
  OVERTAKEN_PER_LEVEL,
} from "../../../../../src/host/dispatch/queue/call-queue.ts";
import type { QueuedCall } from "../../../../../src/host/calls/queued-call.ts";
import { createHeld } from "../../../../support/endpoints.ts";

const call = (slot: number, priority: number): QueuedCall => ({
  slot,
  generation: 0,
  task: 0,
  snapshot: createHeld(),
  priority,
});

test("the queue orders calls by age minus a thousand calls per priority level", () => {
  const step = fc.oneof(fc.constant("take" as const), fc.constantFrom(0, 0, 1, -1, 2.5));
  fc.assert(fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
    const queue = new CallQueue();
    const model: QueuedCall[] = [];
    const rank = ({ slot, priority }: QueuedCall) => slot - OVERTAKEN_PER_LEVEL * priority;
    for (const [number, next] of steps.entries()) {
      if (next === "take") {
        const expected = model.sort((a, b) => rank(a) - rank(b) || b.priority - a.priority).shift();
        expect(queue.peek()?.slot).toBe(expected?.slot);
        if (expected !== undefined) queue.take();
      } else {
        // Numbers of the model count steps, those of the queue calls: the same order.
        const added = call(number, next);
        model.push(added);
        queue.push(added);
      }
      expect(queue.size).toBe(model.length);
    }
  }));
});

test("exactly a thousand later calls overtake a low call", () => {
  const queue = new CallQueue();
  queue.push(call(-1, -1));
  for (let n = 0; n < 3000; n++) queue.push(call(n, 0));
  let before = 0;
  while (queue.peek()!.slot !== -1) {
    queue.take();
    before++;
  }
  expect(before).toBe(OVERTAKEN_PER_LEVEL);
});

test("returned calls are the next of their priority and keep their order", () => {
  for (const [taken, back] of [[0, 4], [2, 4], [6, 4], [10, 100_000]] as const) {
    const queue = new CallQueue();
    for (let n = 0; n < 20; n++) queue.push(call(n, n % 2));
    const first: number[] = [];
    for (let n = 0; n < taken; n++) first.push(queue.take()!.slot);
    const returned = Array.from({ length: back }, (_, n) => call(100 + n, n % 2));
    queue.putBackAll(returned);
    expect(queue.size).toBe(20 - taken + back);
    const order: QueuedCall[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) order.push(next);
    for (const level of [0, 1]) {
      const waiting = Array.from({ length: 20 }, (_, n) => n).filter((n) =>
        n % 2 === level && !first.includes(n)
      );
      expect(order.filter(({ priority }) => priority === level).map(({ slot }) => slot)).toEqual([
        ...returned.filter(({ priority }) => priority === level).map(({ slot }) => slot),
        ...waiting,
      ]);
    }
  }
});

test("prune drops cancelled calls and keeps the order of the others", () => {
  const calls = fc.array(fc.constantFrom(0, 0, 1, -1), { maxLength: 60 });
  fc.assert(
    fc.property(calls, fc.nat(20), fc.integer({ min: 2, max: 5 }), (levels, taken, each) => {
      const [pruned, whole] = [new CallQueue(), new CallQueue()];
      for (const [slot, priority] of levels.entries()) {
        pruned.push(call(slot, priority));
        whole.push(call(slot, priority));
      }
      for (let n = 0; n < taken; n++) expect(pruned.take()).toEqual(whole.take());
      const isWanted = ({ slot }: QueuedCall): boolean => slot % each !== 0;
      pruned.prune(isWanted);
      const order = (queue: CallQueue): number[] => {
        const slots: number[] = [];
        for (let next = queue.take(); next !== undefined; next = queue.take()) {
          slots.push(next.slot);
        }
        return slots;
      };
      const left = order(whole).filter((slot) => slot % each !== 0);
      expect(pruned.size).toBe(left.length);
      // Among one priority; which priority comes first may differ, since ranks are of what is left.
      for (const level of [-1, 0, 1]) {
        const ofLevel = (slots: number[]) => slots.filter((slot) => levels[slot] === level);
        expect(ofLevel(order(pruned).slice())).toEqual(ofLevel(left));
        for (const slot of left) pruned.push(call(slot, levels[slot]!));
        expect(pruned.size).toBe(left.length);
      }
    }),
  );
});

test("has() finds a call until it is taken or dropped", () => {
  const queue = new CallQueue();
  for (const [slot, priority] of [[1, 0], [2, 1], [3, 0]] as const) {
    queue.push(call(slot, priority));
  }
  const waiting = (): number[] => [1, 2, 3].filter((slot) => queue.has(slot, 0));
  expect(waiting()).toEqual([1, 2, 3]);
  expect(queue.has(1, 1)).toBe(false);
  expect(queue.take()?.slot).toBe(2);
  expect(waiting()).toEqual([1, 3]);
  queue.prune(({ slot }) => slot !== 3);
  expect(waiting()).toEqual([1]);
  queue.take();
  expect(waiting()).toEqual([]);
});
