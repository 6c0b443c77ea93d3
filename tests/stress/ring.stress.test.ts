/** Two real threads on one ring, as fast as they can, every word checked. */
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ringBytes } from "../../src/ring/ring-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { createRandom, recordWords, seedOfRun } from "../support/random.ts";
import { realNow } from "../support/runtime.ts";

const seed = seedOfRun();
const COUNT = Number(process.env["HEDDLE_STRESS_RECORDS"] ?? 200_000);
const WATCHDOG_MS = 60_000 + COUNT / 10;

describe(`seed ${seed}`, () => {
  test.each([64, 256, 4096, 65536])("ring of %i bytes", async (capacity) => {
    const buffer = new SharedArrayBuffer(ringBytes(capacity));
    const consumer = SpscRing.create(buffer, 0, capacity).takeConsumer();
    const producer = new Worker(new URL("./ring-thread.ts", import.meta.url), {
      workerData: { buffer, seed: seed + capacity, count: COUNT },
    });
    const ended = new Promise<void>((resolve, reject) => {
      producer.on("error", reject);
      producer.on("exit", () => resolve());
    });
    await new Promise((resolve) => producer.once("online", resolve));
    const random = createRandom(seed + capacity);
    const deadline = realNow() + WATCHDOG_MS;
    let received = 0;
    let idle = 0;
    while (received < COUNT) {
      const index = consumer.poll();
      if (index < 0) {
        // Thread start-up needs this thread's event loop, and the producer a core: on a busy machine it would wait for the end of a time
        // slice for each few records. A wedged ring must not hang the run.
        if ((++idle & 0x7ff) === 0) {
          await new Promise((resolve) => setTimeout(resolve));
          if (realNow() > deadline) throw new Error(`stuck at record ${received}, seed ${seed}`);
        }
        continue;
      }
      expectRecord(index, recordWords(random, capacity));
      random(); // the producer's choice to abandon a claim
      consumer.release();
      received++;
    }
    await ended;
    expect(consumer.poll()).toBe(-1);

    function expectRecord(index: number, words: number): void {
      consumer.verify(index);
      const start = (index + 8) >> 2;
      if (consumer.end - index !== ((8 + 4 * words + 7) & ~7)) {
        throw new Error(`record ${received} has a wrong length, seed ${seed}`);
      }
      for (let word = 0; word < words; word++) {
        if (consumer.memory.i32[start + word] !== ((received + word) | 0)) {
          throw new Error(`record ${received} is torn at word ${word}, seed ${seed}`);
        }
      }
    }
  }, WATCHDOG_MS + 10_000);
});
