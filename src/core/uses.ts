/** What features add to a pool, by their names; and the errors for what belongs to one that the pool does not use. */
import { Set } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import type { HostFeature } from "../api/pool/feature.ts";
import { members } from "../api/pool/members.ts";
import type { PoolOptions } from "../api/options/pool-options.ts";
import { type FeatureName, isFeature } from "../api/pool/uses.ts";
import type { Uses } from "../api/tasks/pool-spec.ts";
import { reasons } from "../features/calls/reasons/host.ts";
import { rights } from "../features/workers/rights/host.ts";
import { invalid, isRecord, ownOf, show } from "../option-checks.ts";

type Parts = readonly [options: string, callOptions: string, members: string];

/** In the order in which they are attached, that of `features/host.ts`. What is in none of them is the kernel's. */
export const PARTS: Readonly<Record<FeatureName, Parts>> = {
  values: ["", "transfer", ""],
  structs: ["", "", ""],
  streams: ["", "highWaterMark onEvent", ""],
  limits: [
    "hardTimeoutMs maxAbandonedThreads",
    "runTimeoutMs stallMs timeoutMs timeoutValue killAfterMs signal abortSignal",
    "",
  ],
  scaling: [
    "minThreads maxThreads budget idleTimeoutMs recycleAfter maxWorkerBytes minFreeMemory",
    "",
    "",
  ],
  queue: ["maxQueue queuePolicy", "", "needsDrain drained"],
  keys: ["", "affinity", "broadcast"],
  stealing: ["", "", ""],
  balancers: ["balancer", "", ""],
  inline: ["inliner onUnavailable", "", ""],
  observe: ["metrics debug context output", "", "stats usage"],
  profile: ["", "", "profile"],
  requests: ["host", "", ""],
  map: ["", "", "map forEach reduce"],
  scopes: ["", "", "scope"],
  sync: ["", "", "sync"],
  objects: ["", "", "spawn"],
  mirror: ["transport", "", ""],
  processes: ["workers process", "", ""],
  caching: ["compileCache", "", ""],
};

const ORDER = Object.keys(PARTS) as readonly FeatureName[];

/** Those of every pool. */
export const OF_ALL: readonly HostFeature[] = [rights, reasons];

/** Takes `use` out of the options of `createPool`. Throws InvalidArgumentError. */
export function takeFeatures(
  options: object | undefined,
): { readonly features: readonly HostFeature[]; readonly rest: PoolOptions | undefined } {
  if (!isRecord(options)) return { features: [], rest: options };
  const { use = [], ...rest } = ownOf<PoolOptions & { readonly use?: unknown }>(options);
  if (!Array.isArray(use)) throw invalid("use", "a list of features: [limits()]", show(use));
  for (const each of use as readonly unknown[]) {
    if (isFeature(each)) continue;
    const { name, adds } = Object(each) as { readonly name?: string; readonly adds?: unknown };
    throw new InvalidArgumentError(
      typeof each === "function"
        ? `use takes features, got the function ${name}: call it, ${name}().`
        : adds === undefined
        ? `use takes features such as limits(), got ${show(each)}.`
        : "use got a feature of another copy of heddle: load heddle/core and heddle/features in the same way, both by import or " +
          "both by require.",
    );
  }
  const added = (use as readonly { readonly adds: readonly HostFeature[] }[])
    .flatMap(({ adds }) => adds);
  const features = [
    ...OF_ALL, // first: checks of others read what their options stand for
    ...ORDER.flatMap((name) => added.find((each) => each.name === name) ?? []),
  ];
  return { features, rest: rest as PoolOptions };
}

/** As `Uses`, also for the options of `createPool`. */
export interface PoolUses extends Uses {
  readonly needForPool: (options: object | undefined) => void;
}

/** What a pool with these features may use. */
export function usesOf(features: readonly HostFeature[]): PoolUses {
  const names: ReadonlySet<string> = new Set(features.map(({ name }) => name));
  const need = (feature: string, what: string): void => {
    if (names.has(feature)) return;
    throw new InvalidArgumentError(
      `${what} needs ${feature}(): createPool({ use: [${feature}()] }), with ${feature} of "heddle/features/${feature}".`,
    );
  };
  /** `name` is one of the `part`-th parts of a feature. */
  const needPart = (name: string, part: 0 | 1 | 2, what = name): void => {
    const feature = ORDER.find((each) => PARTS[each][part].split(" ").includes(name));
    if (feature !== undefined) need(feature, what);
  };
  // In pools of this thread that lack them, reading one throws.
  for (const name of ORDER.flatMap((each) => PARTS[each][2].split(" "))) {
    if (name !== "") members[name] ??= () => undefined;
  }
  return {
    names,
    need,
    needForPool: (options) => {
      for (const name of Object.keys(options ?? {})) needPart(name, 0);
      if ((options as PoolOptions | undefined)?.threads === 0) need("inline", "threads: 0");
    },
    needForOptions: (options, to) => {
      for (const name of Object.keys(options)) needPart(name, 1, `${name} of ${to}`);
    },
    needForMember: (name) => needPart(name, 2, `pool.${name}`),
  };
}
