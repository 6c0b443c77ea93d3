/**
 * `burst`: one caller, one worker. How long until 1,000 to 100,000 calls made at once are all answered, and how late a
 * timer of 1 ms on the host is while they are settled, or while calls are awaited one after the other.
 *
 * Making the calls is the caller's own code, in which no timer can fire: timers count from then on.
 */
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { postMessage } from "../contenders/messages.ts";
import { attempt, chooseContender, finish, readArguments } from "../harness/child.ts";
import { now } from "../harness/clock.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import { BURST_CASE, BURST_SIZES, TIMER_CASE, TIMER_SIZES } from "./burst-cases.ts";
import { createRun, type NumberCall, toBatchUs } from "./call-batches.ts";

const TIMER_MS = 1;
const US_PER_MS = 1000;
/** Calls one after the other between two looks at the clock. */
const SEQUENTIAL = 100;

/** Notes how late the ticks of a timer are, in microseconds. */
class Ticks {
  readonly late: number[] = [];
  #last = now();
  readonly #timer = setInterval(() => {
    const time = now();
    this.late.push(Math.max(0, time - this.#last - TIMER_MS) * US_PER_MS);
    this.#last = time;
  }, TIMER_MS);

  /** From now on they count. */
  begin(): void {
    this.late.length = 0;
    this.#last = now();
  }

  /** A tick that has not come counts as late as it is by now: a host that lets no timer fire has no other. */
  end(): void {
    clearInterval(this.#timer);
    const lateMs = now() - this.#last - TIMER_MS;
    if (lateMs > 0 || this.late.length === 0) this.late.push(Math.max(0, lateMs) * US_PER_MS);
  }
}

async function takeTicks(call: NumberCall, size: number, seconds: number): Promise<number[]> {
  const late: number[] = [];
  const run = createRun(call, { size: 1, sequential: SEQUENTIAL, isEcho: true });
  for (const end = now() + seconds * 1000; now() < end;) {
    const ticks = new Ticks();
    if (size === 1) { while (now() < end) await run(); }
    else {
      const answers = Array.from({ length: size }, (_, n) => call(n + 0.5));
      ticks.begin();
      await Promise.all(answers);
    }
    ticks.end();
    late.push(...ticks.late);
  }
  return late;
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<void> {
  const { contender: name, isQuick } = readArguments();
  const { echo, close } = await chooseContender([heddle, knitting, postMessage], name).start(1);
  const budget: Budget = isQuick
    ? { seconds: 0.05, minSamples: 2 }
    : { seconds: 0.5, minSamples: 4 };
  const found = [];
  for (const size of isQuick ? BURST_SIZES.slice(0, 2) : BURST_SIZES) {
    const batch = { size, sequential: 1, isEcho: true };
    found.push(
      await attempt(
        { case: BURST_CASE, size, unit: "µs", calls: size },
        async () =>
          toBatchUs(await takeSamples(createRun(echo as NumberCall, batch), budget), batch),
      ),
    );
  }
  for (const size of TIMER_SIZES) {
    found.push(
      await attempt(
        { case: TIMER_CASE, size, unit: "µs" },
        () => takeTicks(echo as NumberCall, size, isQuick ? 0.3 : 1),
      ),
    );
  }
  await close();
  await finish(found);
}
