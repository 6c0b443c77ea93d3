/** Options of tasks and of `with`: checks, and conversion to settings. */
import { checkInteger, checkKeys, invalid, isRecord, ownOf } from "../../option-checks.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { CallOption, ChangeArguments, GivenCall, NewCallOptions } from "./feature.ts";

export type { CallOptions, TaskOptions } from "./call-option-types.ts";
export type { GivenCall } from "./feature.ts";

const MAX_RETRIES = 1000;
const LEVELS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  high: 1,
  normal: 0,
  low: -1,
};
/** Maximum absolute value of a priority. */
const MAX_LEVEL = 1000;

/** All options, in the order of messages: these, then those of features. */
export const callOptions: Record<string, CallOption> = {
  priority: { check: (value, to) => to.priority = levelOf(value) },
  retries: { check: (value, to) => to.retries = checkInteger("retries", value, 0, MAX_RETRIES) },
};

/** The names of the options of `task()`, or those of `with()`. */
export function callOptionNames(by: "with" | "task"): string[] {
  return Object.keys(callOptions).filter((name) => {
    const { only = by } = ownOf<CallOption>(callOptions[name]!);
    return only === by;
  });
}

/** Checks the options of `with`. Throws InvalidArgumentError. */
export function checkCallOptions(options: unknown): GivenCall {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `with() takes an object of options, got ${describeValue(options)}.`,
    );
  }
  checkKeys("with()", options, callOptionNames("with"));
  return settingsOf(options);
}

/** No options. */
export const NO_OPTIONS: GivenCall = {};

/** `later` options win over `earlier` ones, except that signals and objects that move add up. */
export function mergeOptions(earlier: GivenCall, later: GivenCall): GivenCall {
  if (earlier === NO_OPTIONS) return later;
  const merged = { ...earlier, ...later } as Record<string, unknown>;
  for (const name in earlier) {
    const merge = callOptions[name]?.merge;
    const key = name as keyof GivenCall;
    if (merge === undefined || earlier[key] === undefined) continue;
    merged[name] = merge(earlier[key] as never, later[key] as never);
  }
  return merged as GivenCall;
}

/** What options that are given do to arguments. At most one changes them. */
export function changeOf(given: GivenCall): ChangeArguments | undefined {
  for (const name in given) {
    const change = callOptions[name]?.changeArguments;
    if (change !== undefined) return change;
  }
  return undefined;
}

/** Converts own properties of `options` to settings and ignores others. `further`: options that nobody has added. */
export function settingsOf(options: object, further?: NewCallOptions): GivenCall {
  const given = ownOf<Record<string, unknown>>(options);
  const settings: GivenCall = {};
  for (const [name, { check }] of Object.entries({ ...callOptions, ...further })) {
    if (given[name] !== undefined) check(given[name], settings);
  }
  return settings;
}

/** A priority as levels above normal. Throws InvalidArgumentError. */
function levelOf(priority: unknown): number {
  const level = typeof priority === "string" ? LEVELS[priority] : priority;
  if (typeof level === "number" && Math.abs(level) <= MAX_LEVEL) return level;
  const rule = `"high", "normal", "low" or a number from -${MAX_LEVEL} to ${MAX_LEVEL}`;
  throw invalid("priority", rule, describeValue(priority));
}
