import type { HostRuntime } from "../runtime.ts";
import * as deferred from "./deferred.ts";

/** Finds modules from other modules: how `createPool` takes those that its caller names. */
export function moduleFinder(
  runtime: Pick<HostRuntime, "toModuleUrl" | "exists" | "importCondition" | "canRead" | "env">,
): Pick<HostRuntime, "toModuleUrl" | "exists"> & {
  readonly findPackage: (specifier: string, parent: string) => string | undefined;
} {
  const { toModuleUrl, exists } = runtime;
  const findPackage = (specifier: string, parent: string): string | undefined =>
    deferred.findPackageModule(specifier, parent, runtime);
  return { toModuleUrl, exists, findPackage };
}
