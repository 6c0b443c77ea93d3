/** Options of threads as Node takes them, made those that heddle takes: values become texts, unknown limits are dropped. */
import type { PoolOptions, ResourceLimits } from "heddle";
import { EARLY_IMPORT, readsEarly } from "./early-data.ts";
import { hasThreadLimits } from "./runtime.ts";
import type { FilledOptions } from "./options.ts";

type ThreadOptions = Pick<NonNullable<PoolOptions["worker"]>, "env" | "argv" | "execArgv">;

const LIMITS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const satisfies readonly (keyof ResourceLimits)[];

const textsOf = (values: readonly unknown[]): string[] => values.map(String);

function envOf(env: NonNullable<FilledOptions["env"]>): NonNullable<ThreadOptions["env"]> {
  if (typeof env === "symbol") return env as NonNullable<ThreadOptions["env"]>;
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
}

export function threadOptions(options: FilledOptions): ThreadOptions {
  const { env, argv, execArgv } = options;
  const early = readsEarly(options) ? [EARLY_IMPORT] : [];
  return {
    ...(env == null ? {} : { env: envOf(env) }),
    ...(argv == null ? {} : { argv: textsOf(argv) }),
    ...(execArgv == null || !hasThreadLimits ? {} : { execArgv: [...early, ...textsOf(execArgv)] }),
  };
}

export function limitOptions(
  { resourceLimits }: FilledOptions,
): Pick<PoolOptions, "resourceLimits"> {
  if (resourceLimits === undefined || !hasThreadLimits) return {};
  const known = LIMITS.filter((name) => resourceLimits[name] !== undefined);
  if (known.length === 0) return {};
  return { resourceLimits: Object.fromEntries(known.map((name) => [name, resourceLimits[name]])) };
}
