/** Calls before the first that counts, where what is measured is a program that has run for a while. */
import type { Echo } from "../contenders/types.ts";
import { sleep } from "../harness/clock.ts";

const CALLS = 10_000;
const QUICK_CALLS = 2000;
const AT_ONCE = 20;
/** Engines compile and collect in threads of their own for a while. */
const SETTLE_MS = 300;
const QUICK_SETTLE_MS = 100;

export async function warmUp(echo: Echo, isQuick: boolean): Promise<void> {
  for (let n = 0; n < (isQuick ? QUICK_CALLS : CALLS); n += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => echo(n + index + 0.5)));
  }
  await sleep(isQuick ? QUICK_SETTLE_MS : SETTLE_MS);
}
