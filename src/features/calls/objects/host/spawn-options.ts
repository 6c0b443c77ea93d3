/** Checks what `pool.spawn` was given. */
import { URL } from "../../../../builtins.ts";
import { moduleUrlOf } from "../../../../api/options/module-url.ts";
import type { PoolSpec } from "../../../../api/tasks/pool-spec.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import {
  checkKeys,
  checkLimit,
  checkMs,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../../../option-checks.ts";
import type { RestartOptions, SpawnOptions } from "../object-types.ts";

/** Where an object is to live: a rule, or the handle of another object. */
export type Placement = "spread" | "pack" | object;

/** What `pool.spawn.with(…)(module).Name(…args)` was given. */
export interface SpawnRequest {
  readonly module: unknown;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly options: readonly unknown[];
}

/** How often an object is made again. */
export type RestartSettings = Required<RestartOptions>;

export interface SpawnSettings {
  readonly placement: Placement;
  /** Undefined: it is not made again. */
  readonly restart: RestartSettings | undefined;
}

const RESTART: RestartSettings = { max: 5, withinMs: 10_000 };

const NO_RECYCLING =
  "pool.spawn is not for pools with recycleAfter, which replaces workers: their objects would be lost.";
const NO_MODULE =
  "The tasks of this pool are functions: give the module of the class, pool.spawn(url).Name().";

/** The later options win. Throws InvalidArgumentError. */
export function settingsOfSpawn({ options }: SpawnRequest): SpawnSettings {
  let settings: SpawnSettings = { placement: "spread", restart: undefined };
  for (const given of options) {
    if (!isRecord(given)) throw invalid("spawn.with()", "options", show(given));
    checkKeys("spawn.with()", given, ["placement", "restart"]);
    const { placement = settings.placement, restart } = ownOf<SpawnOptions>(given);
    if (placement !== "spread" && placement !== "pack" && !isRecord(placement)) {
      throw invalid("placement", '"spread", "pack" or another object', show(placement));
    }
    settings = {
      placement,
      restart: restart === undefined ? settings.restart : checkRestart(restart),
    };
  }
  return settings;
}

function checkRestart(restart: unknown): SpawnSettings["restart"] {
  if (typeof restart === "boolean") return restart ? RESTART : undefined;
  if (!isRecord(restart)) throw invalid("restart", "true, false or an object", show(restart));
  checkKeys("restart", restart, ["max", "withinMs"]);
  const { max = RESTART.max, withinMs = RESTART.withinMs } = ownOf<RestartOptions>(restart);
  return {
    max: checkLimit("restart.max", max),
    withinMs: checkMs("restart.withinMs", withinMs),
  };
}

/** The URL of the module of a class. Throws InvalidArgumentError. */
export function moduleOfSpawn(
  { module }: SpawnRequest,
  { options: { recycleAfter = Infinity }, taskModule, runtime }: PoolSpec,
): string {
  if (recycleAfter !== Infinity) throw new InvalidArgumentError(NO_RECYCLING);
  if (module === undefined) {
    if (taskModule === undefined) throw new InvalidArgumentError(NO_MODULE);
    return taskModule;
  }
  if (typeof module === "string" || module instanceof URL) {
    return moduleUrlOf(String(module), undefined, runtime);
  }
  throw invalid("The module of pool.spawn()", "a URL or a path", show(module));
}
