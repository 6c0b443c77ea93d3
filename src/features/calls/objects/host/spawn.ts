/** `pool.spawn`: the classes of modules as functions that make objects in workers. */
import { URL } from "../../../../builtins.ts";
import { createTable } from "../../../../api/calls/call-proxy.ts";
import { moduleUrlOf } from "../../../../api/options/module-url.ts";
import type { PoolAccess } from "../../../../api/pool/members.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import {
  checkInteger,
  checkKeys,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../../../option-checks.ts";
import type { SpawnOptions } from "../object-types.ts";
import type { Objects, Placement } from "./objects.ts";

type MakeObject = (...args: unknown[]) => Promise<object>;

const MAX_CONCURRENCY = 2 ** 20;
const NO_RECYCLING =
  "pool.spawn is not for pools with recycleAfter, which replaces workers: their objects would be lost.";
const NO_MODULE =
  "The tasks of this pool are functions: give the module of the class, pool.spawn(url).Name().";

export interface SpawnSettings {
  readonly concurrency: number;
  readonly placement: Placement;
}

const DEFAULTS: SpawnSettings = { concurrency: 1, placement: "spread" };

function checkOptions(given: unknown): Partial<SpawnSettings> {
  if (!isRecord(given)) throw invalid("spawn.with()", "options", show(given));
  checkKeys("spawn.with()", given, ["concurrency", "placement"]);
  const { concurrency, placement } = ownOf<SpawnOptions>(given);
  const isPlace = placement === undefined || placement === "spread" || placement === "pack" ||
    (typeof placement === "object" && placement !== null);
  if (!isPlace) {
    throw invalid("placement", '"spread", "pack" or another object', show(placement));
  }
  const settings: { -readonly [Name in keyof SpawnSettings]?: SpawnSettings[Name] } = {};
  if (concurrency !== undefined) {
    settings.concurrency = checkInteger("concurrency", concurrency, 1, MAX_CONCURRENCY);
  }
  if (placement !== undefined) settings.placement = placement as Placement;
  return settings;
}

export function createSpawn(access: PoolAccess): object {
  const { spec } = access;
  if (spec.options.recycleAfter !== Infinity && spec.options.recycleAfter !== undefined) {
    throw new InvalidArgumentError(NO_RECYCLING);
  }
  let loaded: Promise<Objects> | undefined;
  const load = (): Promise<Objects> =>
    loaded ??= import("./objects.ts").then(({ objectsOf }) => objectsOf(access));
  const classesOf = (url: string, settings: SpawnSettings) =>
    createTable<MakeObject>((name) => async (...args: unknown[]) =>
      (await load()).create(url, name, args, settings)
    );
  const at = (settings: SpawnSettings): object => {
    const own = createTable<MakeObject>((name) => {
      if (spec.taskModule === undefined) throw new InvalidArgumentError(NO_MODULE);
      return classesOf(spec.taskModule, settings)[name];
    });
    const spawn = (module: unknown): object => {
      if (typeof module !== "string" && !(module instanceof URL)) {
        throw invalid("The module of pool.spawn()", "a URL or a path", show(module));
      }
      return classesOf(moduleUrlOf(String(module), undefined, spec.runtime), settings);
    };
    const options = {
      with: (given: unknown) => at({ ...settings, ...checkOptions(given) }),
    };
    return Object.setPrototypeOf(Object.assign(spawn, options), own) as object;
  };
  return at(DEFAULTS);
}
