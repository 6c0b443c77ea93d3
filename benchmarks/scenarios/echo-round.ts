/** One round of an echo scenario: all runs of one contender, one worker per route. */
import type { EchoCalls, EchoContender } from "../contenders/types.ts";
import { finish, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import type { Budget } from "../harness/timing.ts";
import { type Route, ROUTES } from "../payloads/payload.ts";
import { type EchoRun, measureEcho } from "./echo.ts";

/** Measures every run, and prints its figures or why it has none. */
export async function runEchoes(
  contender: EchoContender,
  runs: readonly EchoRun[],
  budget: Budget,
): Promise<never> {
  const found: (RoundSamples | RoundGap)[] = [];
  for (const route of ROUTES) {
    const worker = new RouteWorker(contender, route);
    let isFirst = true;
    for (const run of runs.filter(({ kind }) => kind.route === route)) {
      const { case: name, size, batch, kind } = run;
      const skipped = run.skipped ?? contender.refuses(kind);
      if (skipped !== undefined) {
        found.push({ case: name, size, reason: skipped, isSkipped: true });
        continue;
      }
      try {
        const { echo } = await worker.calls();
        const samples = await measureEcho(echo, run, budget, isFirst);
        isFirst = false;
        found.push({ case: name, size, calls: batch, unit: "µs", samples });
      } catch (error) {
        found.push({ case: name, size, reason: describe(error), isSkipped: false });
        await worker.close();
      }
    }
    await worker.close();
  }
  return finish(found);
}

/** Peers reject with anything. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === "" ? "rejected without a reason" : text;
}

/** The worker of a route: started when first needed, and again after a failure. */
class RouteWorker {
  readonly #contender: EchoContender;
  readonly #route: Route;
  #calls: EchoCalls | undefined;

  constructor(contender: EchoContender, route: Route) {
    this.#contender = contender;
    this.#route = route;
  }

  async calls(): Promise<EchoCalls> {
    this.#calls ??= await this.#contender.start(this.#route);
    return this.#calls;
  }

  async close(): Promise<void> {
    await this.#calls?.close();
    this.#calls = undefined;
  }
}
