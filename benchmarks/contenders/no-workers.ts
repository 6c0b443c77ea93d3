/** No worker at all: a timer on the host takes the time that a task would. What waiting itself costs. */
import { now, sleep, US_PER_MS } from "../harness/clock.ts";
import type { SpinContender } from "./spin-contender.ts";

export const noWorkers: SpinContender = {
  name: "no workers",
  start: () =>
    Promise.resolve({
      async spin(us) {
        const end = now() + us / US_PER_MS;
        // Timers may fire up to a millisecond early.
        while (now() < end) await sleep(Math.ceil(end - now()));
        return now();
      },
      close: () => Promise.resolve(),
    }),
};
