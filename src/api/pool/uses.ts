/** The features of a pool that names them (`heddle/core`). */
import { WeakSet } from "../../builtins.ts";

/** The names of all features. */
export type FeatureName =
  | "values"
  | "structs"
  | "streams"
  | "limits"
  | "queue"
  | "keys"
  | "stealing"
  | "scaling"
  | "balancers"
  | "inline"
  | "observe"
  | "profile"
  | "requests"
  | "map"
  | "scopes"
  | "sync"
  | "objects"
  | "mirror"
  | "processes"
  | "caching";

/** A feature with those that it needs: what a function of `heddle/features` returns. */
export interface Feature<Name extends FeatureName = FeatureName> {
  /** What they add to a host, in the order of their needs. */
  readonly adds: readonly { readonly name: string }[];
  /** Type only: their names. */
  readonly names?: Name;
}

/** Those of this copy of heddle. Others would add to tables of theirs. */
const made = new WeakSet<object>();

/** The feature that adds this, with those that it needs. */
export function feature<Name extends FeatureName>(
  added: { readonly name: string },
  ...needs: readonly Feature[]
): Feature<Name> {
  const feature: Feature<Name> = { adds: [...needs.flatMap(({ adds }) => adds), added] };
  made.add(feature);
  return feature;
}

export function isFeature(value: unknown): value is Feature {
  return made.has(value as object);
}
