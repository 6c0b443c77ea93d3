/** Timers and I/O of host and workers go on under load. */
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { sharedWords, testPool, until } from "../support/conformance.ts";
import { pause, realNow, realSetTimeout } from "../support/runtime.ts";

describe("fairness", () => {
  type Load = (call: ReturnType<typeof testPool>["call"]) => Promise<unknown>;
  /** With how many of them there may be between two ticks of a timer of 1 ms: about 30 ms of them. */
  const loads: Record<string, { readonly load: Load; readonly most: number }> = {
    "one call after the other": { load: (call) => call.echo(1), most: 10_000 },
    "batches of calls": {
      load: (call) => Promise.all(Array.from({ length: 500 }, () => call.echo(1))),
      most: 200,
    },
    "async tasks": { load: (call) => call.microtasks(3), most: 10_000 },
  };

  for (const [name, { load, most }] of Object.entries(loads)) {
    test(`host timers fire and I/O continues during an endless loop of ${name}`, async () => {
      const { call } = testPool();
      let [ticks, since, longest] = [0, 0, 0];
      const tick = () => {
        ticks++;
        longest = Math.max(longest, since);
        since = 0;
        if (server.listening) realSetTimeout(tick, 1);
      };
      const server = createServer((_request, response) => response.end("hello"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      tick();
      let answers = 0;
      const ask = () => {
        const { port } = server.address() as AddressInfo;
        const request = get({ port, host: "127.0.0.1", agent: false }, (response) => {
          response.resume();
          response.on("end", () => {
            answers++;
            if (answers < 5) ask();
          });
        });
        request.on("error", () => server.listening && ask());
      };
      ask();
      await until(() => ticks > 100 && answers >= 5, () => {
        since++;
        return load(call);
      });
      await new Promise((resolve) => server.close(resolve));
      expect(longest).toBeLessThan(most);
    });

    test(`a worker's interval fires under a load of ${name}`, async () => {
      const { call } = testPool();
      await call.intervalTicks(1);
      let [ticks, since, longest] = [await call.intervalTicks(1), 0, 0];
      const end = ticks + 100;
      await until(() => ticks > end, async () => {
        await load(call);
        since++;
        const now = await call.intervalTicks(1);
        if (now === ticks) return;
        longest = Math.max(longest, since);
        [ticks, since] = [now, 0];
      });
      expect(longest).toBeLessThan(most);
      await call.stopInterval();
    });
  }

  test("the host's event loop turns while it works between its calls", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    for (let n = 0; n < 40; n++) {
      await pool.call.echo(n);
      await pause(2);
    }
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    for (let n = 0; n < 400; n++) {
      const call = pool.call.burn(0.3);
      await Promise.resolve();
      const endMs = realNow() + 0.5;
      while (realNow() < endMs) { /* the host's own work */ }
      await call;
    }
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });

  test("a worker's interval fires while the pool is idle", async () => {
    const pool = testPool();
    const words = sharedWords();
    await pool.call.intervalInto(words, 1);
    const { parks } = pool.stats();
    for (const ticks of [5, 20, 50]) await until(() => Atomics.load(words, 1) > ticks);
    expect(pool.stats()).toMatchObject({ parks, inFlight: 0 }); // the host was not involved
    await pool.call.stopInterval();
  });

  test("a worker's interval fires while long synchronous tasks queue up", async () => {
    const { call } = testPool();
    await call.intervalTicks(1);
    const before = await call.intervalTicks(1);
    await Promise.all(Array.from({ length: 60 }, () => call.burn(3)));
    expect(await call.intervalTicks(1)).toBeGreaterThan(before + 20);
    await call.stopInterval();
  });
});
