/** Skips the running test, which needs something that browsers have not. */
import { TestRunner } from "vitest";

export function absent(what: string): never {
  TestRunner.getCurrentTest()?.context.skip(`a browser has no ${what}`);
  throw new Error(`A browser has no ${what}.`);
}
