/** Prototype chains, read without running user code. */
import type { ObjectKinds } from "../../runtimes/runtime.ts";

/** Whether `prototype`, or one it inherits from, matches. Ends at a proxy, whose traps it does not run. */
export function inherits(
  kinds: ObjectKinds,
  prototype: object,
  isIt: (parent: object) => boolean,
): boolean {
  for (let next: object | null = prototype; next !== null; next = Object.getPrototypeOf(next)) {
    if (isIt(next)) return true;
    if (kinds.isProxy(next)) return false;
  }
  return false;
}
