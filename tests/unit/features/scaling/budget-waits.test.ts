/** How long a pool has waited for a thread, which decides whether another one has to drain a busy worker for it. */
import { expect, test } from "vitest";
import {
  type BudgetMember,
  PoolBudget,
} from "../../../../src/features/workers/scaling/host/pool-budget.ts";

test("a pool that was refused long ago takes no busy worker at its next call", () => {
  let nowMs = 0;
  const now = (): number => nowMs;
  const asked: boolean[] = [];
  const member = (): BudgetMember & { wantsThread: boolean } => ({
    wantsThread: true,
    isReturning: false,
    start: () => {},
    giveBack: (mayBeBusy) => {
      if (mayBeBusy) asked.push(mayBeBusy);
      return mayBeBusy;
    },
  });
  const budget = new PoolBudget(4);
  const limits = { guaranteed: 0, isLimited: true };
  const other = budget.join(member(), limits, now);
  const asker = member();
  const share = budget.join(asker, limits, now);
  for (let n = 0; n < 3; n++) other.add();
  share.add();
  other.opened();
  nowMs = 1000;
  expect(share.request()).toBe(false);
  asker.wantsThread = false;
  nowMs = 60_000;
  asker.wantsThread = true;
  expect(share.request()).toBe(false);
  expect(asked).toEqual([]);
  for (let n = 0; n < 30; n++) {
    nowMs += 10;
    share.request();
  }
  expect(asked.length).toBeGreaterThan(0);
});
