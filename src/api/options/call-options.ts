/** Options of tasks and of `with`: checks, and conversion to settings. */
import { checkInteger, checkKeys, invalid, isRecord, ownOf } from "../../option-checks.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { CallOptions } from "./call-option-types.ts";
import {
  type CallOption,
  type CallOptionName,
  callOptions,
  type ChangeArguments,
  type GivenCall,
} from "./feature.ts";

export type { CallOptions, TaskOptions } from "./call-option-types.ts";
export type { GivenCall } from "./feature.ts";

const COMMON_OPTIONS: readonly CallOptionName[] = [
  "priority",
  "runTimeoutMs",
  "timeoutMs",
  "timeoutValue",
  "retries",
  "killAfterMs",
];
const TASK_OPTIONS: readonly CallOptionName[] = [...COMMON_OPTIONS, "highWaterMark"];
const CALL_OPTIONS: readonly CallOptionName[] = [
  ...COMMON_OPTIONS,
  "signal",
  "affinity",
  "transfer",
  "onEvent",
];

/** In the order of their checks. */
const CHECKED: readonly CallOptionName[] = [
  "highWaterMark",
  ...COMMON_OPTIONS,
  "affinity",
  "signal",
  "onEvent",
];

const MAX_RETRIES = 1000;
const LEVELS: Readonly<Record<string, number>> = { high: 1, normal: 0, low: -1 };
/** Maximum absolute value of a priority. */
const MAX_LEVEL = 1000;

/** The options that no feature adds. */
const OWN: { readonly [Name in CallOptionName]?: CallOption } = {
  priority: { check: (value, to) => to.priority = levelOf(value) },
  retries: { check: (value, to) => to.retries = checkInteger("retries", value, 0, MAX_RETRIES) },
};

type Added = { readonly [Name in CallOptionName]?: CallOption };

const isOption = (name: CallOptionName): boolean => (OWN[name] ?? callOptions[name]) !== undefined;

/** The names of the options of `task()`, and those of `with()`. */
export const taskOptionNames = (): readonly string[] => TASK_OPTIONS.filter(isOption);
export const callOptionNames = (): readonly string[] => CALL_OPTIONS.filter(isOption);

/** Checks the options of `with`. Throws InvalidArgumentError. */
export function checkCallOptions(options: unknown): GivenCall {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `with() takes an object of options, got ${describeValue(options)}.`,
    );
  }
  checkKeys("with()", options, callOptionNames());
  const { transfer } = ownOf<CallOptions>(options);
  const moved: GivenCall = {};
  if (transfer !== undefined) callOptions["transfer"]!.check(transfer, moved);
  return { ...settingsOf(options), ...moved };
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

/** Converts own properties of `options` to settings and ignores inherited ones. `added`: what features have added. */
export function settingsOf(options: object, added: Added = callOptions): GivenCall {
  const given: { readonly [Name in CallOptionName]?: unknown } = ownOf(options);
  const settings: GivenCall = {};
  for (const name of CHECKED) {
    const value = given[name];
    if (value !== undefined) (OWN[name] ?? added[name])?.check(value, settings);
  }
  return settings;
}

/** A priority as levels above normal. Throws InvalidArgumentError. */
function levelOf(priority: unknown): number {
  const level = typeof priority === "string" && Object.hasOwn(LEVELS, priority)
    ? LEVELS[priority]
    : priority;
  if (typeof level === "number" && Math.abs(level) <= MAX_LEVEL) return level;
  const rule = `"high", "normal", "low" or a number from -${MAX_LEVEL} to ${MAX_LEVEL}`;
  throw invalid("priority", rule, describeValue(priority));
}
