/** Compiled code of workers on disk, the option `compileCache`: the host's side. */
import { URL as BuiltinURL } from "../../../builtins.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { invalid, show } from "../../../option-checks.ts";
import type { Check } from "../../../api/options/resolved-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";

const RULE = "a boolean, or the path or file URL of a folder";
const NO_PERMISSION =
  "compileCache cannot be combined with permission: the cache would be one more folder that tasks may write.";
const NO_SHARED =
  "compileCache cannot be combined with worker.env: SHARE_ENV, since it sets a variable of workers alone: set process.env.NODE_COMPILE_CACHE.";

/** What is written like a URL. One letter and a colon are a drive. */
const IS_URL = /^[a-z][\w+.-]+:/i;

/** The folder; undefined: that of this process. */
function checkFolder(given: unknown): string | undefined {
  if (given === true) return undefined;
  const text = given instanceof BuiltinURL ? given.href : given;
  const isPlace = typeof text === "string" && text !== "" && !text.includes("\0") &&
    (!IS_URL.test(text) || text.startsWith("file:"));
  if (!isPlace) throw invalid("compileCache", RULE, show(text));
  return text;
}

const cacheCode: Check = (value, to, { permission }, { withCompileCache }) => {
  if (value === false) return;
  const folder = checkFolder(value);
  const { thread } = to.workerOptions;
  if (permission !== undefined && permission !== "off") {
    throw new InvalidArgumentError(NO_PERMISSION);
  }
  if (typeof thread.env === "symbol") throw new InvalidArgumentError(NO_SHARED);
  if (withCompileCache === undefined) return;
  try {
    to.workerOptions = { ...to.workerOptions, thread: withCompileCache(thread, folder) };
  } catch {
    throw invalid("compileCache", RULE, show(folder)); // a URL that names no path, such as that of another host
  }
  to.startData = { ...to.startData, caching: true };
};

export const caching: HostFeature = {
  name: "caching",

  options: { compileCache: cacheCode },
};
