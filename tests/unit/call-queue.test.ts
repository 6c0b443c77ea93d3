/** The order in which calls that wait on the host come out. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { CallQueue, OVERTAKEN_PER_LEVEL, type QueuedCall } from "../../src/host/call-queue.ts";

const call = (slot: number, priority: number): QueuedCall => ({
  slot,
  generation: 0,
  task: 0,
  held: { count: 0, inline: undefined, payload: undefined, transfer: [] },
  priority,
});

test("as a list sorted by age less a thousand calls per level", () => {
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

test("a low call is overtaken by a thousand later ones, and not by one more", () => {
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
