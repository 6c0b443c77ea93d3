/** Producer thread of the ring stress: seeded record lengths, sequence-checked contents. */
import { workerData } from "node:worker_threads";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { createRandom, recordWords } from "../support/random.ts";

const { buffer, seed, count } = workerData as {
  buffer: SharedArrayBuffer;
  seed: number;
  count: number;
};
const producer = SpscRing.attach(buffer, 0).takeProducer();
const random = createRandom(seed);
for (let record = 0; record < count; record++) {
  const words = recordWords(random, producer.capacity);
  let index = producer.claim(8 + 4 * words);
  while (index < 0) index = producer.claim(8 + 4 * words);
  if (random() < 0.05) {
    // An abandoned claim in between, of another size.
    producer.abort();
    index = producer.claim(8 + 4 * words);
  }
  const start = (index + 8) >> 2;
  for (let word = 0; word < words; word++) producer.memory.i32[start + word] = record + word;
  producer.commit(index + 8 + 4 * words);
}
