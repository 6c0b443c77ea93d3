/** URLs of task modules from what users give: URLs, absolute paths, and paths relative to the calling module. */
import { URL } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import type { Runtime } from "../runtimes/runtime.ts";

/** A path of Windows, such as `C:\\tasks.js`, or an absolute one of other systems. */
const ABSOLUTE_PATH = /^(?:[a-z]:[\\/]|\/|\\)/i;
const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

export function isRelative(location: string): boolean {
  return !ABSOLUTE_PATH.test(location) && !URL_SCHEME.test(location);
}

/** The URL of `location`, which may be relative to the module `base`, a path or URL. Throws InvalidArgumentError. */
export function moduleUrlOf(
  location: string,
  base: string | undefined,
  { toModuleUrl }: Pick<Runtime, "toModuleUrl">,
): string {
  if (!isRelative(location)) return toModuleUrl(location);
  if (base === undefined) {
    throw new InvalidArgumentError(
      `The module "${location}" is relative, but the stack does not show the calling module; pass ` +
        `new URL("${location}", import.meta.url).`,
    );
  }
  return new URL(location.replaceAll("\\", "/"), toModuleUrl(base)).href;
}
