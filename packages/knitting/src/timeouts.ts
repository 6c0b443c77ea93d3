/** Knitting's time limits of tasks, and what their calls settle with afterwards. */
import { TimeoutError } from "heddle";
import type { TaskTimeout } from "./types.ts";

/** Largest delay of a timer, in milliseconds. */
const MAX_MS = 2 ** 31 - 1;

/** Settles a call whose time is up: returns its result, or throws its reason. */
type Outcome = () => unknown;

const outcomes = new WeakMap<object, Outcome>();

/** The limit in milliseconds; undefined: none. */
export function limitMsOf(given: TaskTimeout | undefined): number | undefined {
  const time = typeof given === "object" && given !== null ? given.time : given;
  if (typeof time !== "number" || !(time >= 0)) return undefined;
  return Math.min(Math.max(1, Math.floor(time)), MAX_MS);
}

/** Remembers what calls of `task` settle with. */
export function noteTimeout(task: object, given: TaskTimeout | undefined): void {
  if (typeof given !== "object" || given === null) return;
  if ("default" in given) outcomes.set(task, () => given.default);
  else if ("maybe" in given && given.maybe === true) outcomes.set(task, () => undefined);
  else if ("error" in given) {
    outcomes.set(task, () => {
      throw given.error;
    });
  }
}

/** `promise`, or the outcome of `task` if its time is up. */
export function afterTimeout<T extends Promise<unknown>>(promise: T, task: object): T {
  const outcome = outcomes.get(task);
  if (outcome === undefined) return promise;
  return promise.catch((reason: unknown) => {
    const isUp = reason instanceof Error && reason.cause instanceof TimeoutError &&
      reason.cause.kind === "run";
    if (!isUp) throw reason;
    return outcome();
  }) as T;
}
