/** `heddle/shared` is imported by those that use its names, and by nobody else. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runFile } from "../support/runtime.ts";

async function run(name: string): Promise<unknown> {
  const file = fileURLToPath(new URL(`../fixtures/late-shared/${name}.ts`, import.meta.url));
  const { code, output } = await runFile(file);
  // Deno warns of a thread that it cannot stop.
  const last = output.trim().split("\n").at(-1)!;
  expect([code, last], output).toEqual([0, expect.stringMatching(/^{/)]);
  return JSON.parse(last);
}

test("a pool that was created before gets shared objects of every kind, wherever they arrive", async () => {
  expect(await run("late")).toEqual({
    before: false,
    after: false, // not before one arrives
    kinds: true,
    "once loaded": true,
    sync: 7,
    broadcast: [7, 7],
    "host function": 7,
    "host function, sync": 7,
    callback: 7,
    "nested call": 7,
    stream: [7, 7],
    event: 7,
    data: 7,
    "lock of the dead": "HEDDLE_POISONED",
    sent: 5,
    ended: "HEDDLE_CHANNEL_CLOSED",
  });
});

test("tasks share data although their program never imports it", async () => {
  expect(await run("never")).toEqual({
    "sync by name": 1,
    "by name": [1, 2, 3, 4],
    nested: [5, 6],
    results: [1, 1, 2],
    early: 3,
    "lock of the dead": "HEDDLE_POISONED",
    "lock below the dead": "HEDDLE_POISONED",
    sent: "x",
    ended: "HEDDLE_CHANNEL_CLOSED",
  });
});
