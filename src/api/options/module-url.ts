/** URLs of modules from what users give: URLs, absolute paths, and paths and package names as the calling module imports them. */
import { JSON, URL } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";

/** A path of Windows, such as `C:\\tasks.js`, or an absolute one of other systems. */
const ABSOLUTE_PATH = /^(?:[a-z]:[\\/]|\/|\\)/i;
const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** Begins as a path relative to a module does. Otherwise it is a package name first, as for `import`. */
const RELATIVE_PATH = /^\.|\\/;

/** As a URL this is the calling module itself, with another fragment or query. */
const NO_PATH = /^[#?]/;

/** What the functions below need of the runtime. */
export type ModuleFinder =
  & Pick<Runtime, "toModuleUrl">
  & Partial<Pick<Runtime, "exists">>
  & {
    /** The URL of a module of a package, as the module with the URL `parent` imports it. Undefined: not found. */
    readonly findPackage?: (specifier: string, parent: string) => string | undefined;
  };

export function isRelative(location: string): boolean {
  return !ABSOLUTE_PATH.test(location) && !URL_SCHEME.test(location);
}

/**
 * The URL of `location`, which may be relative to the module `base`, a path or URL, or a package that it imports. Throws
 * InvalidArgumentError.
 */
export function moduleUrlOf(
  location: string,
  base: string | undefined,
  { toModuleUrl, exists, findPackage }: ModuleFinder,
): string {
  if (location.trim() === "") {
    throw new InvalidArgumentError(
      `The URL, path or name of a module is ${JSON.stringify(location)}.`,
    );
  }
  if (!isRelative(location)) return toModuleUrl(location);
  if (base === undefined) {
    throw new InvalidArgumentError(
      `The module "${location}" is relative, but the stack does not show the calling module; pass ` +
        `new URL("${location}", import.meta.url).`,
    );
  }
  const parent = toModuleUrl(base);
  const url = urlIn(location, parent);
  if (RELATIVE_PATH.test(location)) return url.href;
  const found = findPackage?.(location, parent);
  if (found !== undefined) return found;
  if (!NO_PATH.test(location) && exists?.(url) !== false) return url.href;
  throw new InvalidArgumentError(
    `No package and no file "${location}" is found from ${base}. A path begins with "./"; pass ` +
      `import.meta.resolve("${location}") for a name that only an import map knows.`,
  );
}

function urlIn(location: string, parent: string): URL {
  try {
    return new URL(location.replaceAll("\\", "/"), parent);
  } catch (cause) {
    throw new InvalidArgumentError(
      `The module "${location}" is relative, and the calling module is in no folder (${parent}); pass a URL or an absolute path.`,
      { cause },
    );
  }
}
