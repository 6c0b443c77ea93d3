/** Checks what `pool.spawn` was given. */
import { URL } from "../../../../builtins.ts";
import { moduleUrlOf } from "../../../../api/options/module-url.ts";
import type { PoolSpec } from "../../../../api/tasks/pool-spec.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { checkKeys, invalid, isRecord, ownOf, show } from "../../../../option-checks.ts";
import type { SpawnOptions } from "../object-types.ts";

/** Where an object is to live: a rule, or the handle of another object. */
export type Placement = "spread" | "pack" | object;

/** What `pool.spawn.with(…)(module).Name(…args)` was given. */
export interface SpawnRequest {
  readonly module: unknown;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly options: readonly unknown[];
}

export interface SpawnSettings {
  readonly placement: Placement;
}

const NO_RECYCLING =
  "pool.spawn is not for pools with recycleAfter, which replaces workers: their objects would be lost.";
const NO_MODULE =
  "The tasks of this pool are functions: give the module of the class, pool.spawn(url).Name().";

/** The later options win. Throws InvalidArgumentError. */
export function settingsOfSpawn({ options }: SpawnRequest): SpawnSettings {
  let settings: SpawnSettings = { placement: "spread" };
  for (const given of options) {
    if (!isRecord(given)) throw invalid("spawn.with()", "options", show(given));
    checkKeys("spawn.with()", given, ["placement"]);
    const { placement = settings.placement } = ownOf<SpawnOptions>(given);
    if (placement !== "spread" && placement !== "pack" && !isRecord(placement)) {
      throw invalid("placement", '"spread", "pack" or another object', show(placement));
    }
    settings = { placement };
  }
  return settings;
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
