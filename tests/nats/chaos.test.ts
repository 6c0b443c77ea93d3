/** The short form of `npm run test:nats-chaos`. */
import { expect, test } from "vitest";
import { noServer } from "../support/nats.ts";
import { createRandom, seedOfRun } from "../support/random.ts";
import { runChaos } from "./chaos.ts";

test.skipIf(noServer !== undefined)(
  `machines are killed${noServer ? ` (${noServer})` : ""}`,
  async () => {
    const seed = seedOfRun();
    const random = createRandom(seed);
    const report = await runChaos({ calls: 4000, durable: 100, kills: 3, machines: 2, random });
    expect({ seed, ...report }).toMatchObject({ settledOnce: 4000, durableRecorded: 100 });
    expect(report.durableRuns).toBeGreaterThanOrEqual(100);
  },
);
