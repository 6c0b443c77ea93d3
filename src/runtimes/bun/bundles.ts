/**
 * Bundles of `bun build` with source maps. Bun shows the sources of such a bundle on stacks and not the bundle, also to
 * `prepareStackTrace` (1.4).
 */
import { JSON, Map } from "../../builtins.ts";
import { process } from "../node-api/process/process.ts";

/** First line of a bundle whose source map Bun reads. */
const MARK = "// @bun";
/** Bun reads the map beside the bundle also without this line. */
const SOURCE_MAP = /\/\/# sourceMappingURL=(\S+)\s*$/;
const INLINE = /^data:[^,]*;base64,/;

/** Bundles by source, and sources by bundle: each task asks, and a map may have megabytes. */
const bundles = new Map<string, string>();
const mapped = new Map<string, readonly string[]>();

/**
 * The module that runs of one that the stack shows. On Bun the bundle that was made from it: the program or, if that was split, a
 * file beside it. The module itself if the program is no such bundle.
 */
export function runningModule(source: string): string {
  if (!("Bun" in globalThis)) return source;
  let bundle = bundles.get(source);
  if (bundle === undefined) bundles.set(source, bundle = findBundle(source));
  return bundle;
}

function findBundle(source: string): string {
  const program = process.argv[1];
  if (program === undefined || !isBundle(program)) return source;
  const { dirname, join } = process.getBuiltinModule("node:path");
  const folder = dirname(program);
  const isMadeFrom = (file: string): boolean => isBundle(file) && sourcesOf(file).includes(source);
  if (isMadeFrom(program)) return program;
  return process.getBuiltinModule("node:fs").readdirSync(folder)
    .filter((name) => name.endsWith("js")).map((name) => join(folder, name)).find(isMadeFrom) ??
    source;
}

function isBundle(file: string): boolean {
  const { closeSync, openSync, readSync } = process.getBuiltinModule("node:fs");
  const bytes = process.getBuiltinModule("node:buffer").Buffer.alloc(MARK.length);
  try {
    const descriptor = openSync(file, "r");
    readSync(descriptor, bytes);
    closeSync(descriptor);
  } catch {
    return false; // not a file, such as an executable's module
  }
  return bytes.toString() === MARK;
}

/** The paths of the modules that a bundle was made from, by its source map. */
function sourcesOf(bundle: string): readonly string[] {
  let sources = mapped.get(bundle);
  if (sources === undefined) mapped.set(bundle, sources = readSources(bundle));
  return sources;
}

function readSources(bundle: string): readonly string[] {
  const { Buffer } = process.getBuiltinModule("node:buffer");
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  try {
    const url = SOURCE_MAP.exec(readFileSync(bundle, "utf8"))?.[1] ?? "";
    const map = INLINE.test(url)
      ? Buffer.from(url.replace(INLINE, ""), "base64").toString()
      : readFileSync(`${bundle}.map`, "utf8");
    const { sources } = JSON.parse(map) as { readonly sources: readonly string[] };
    return sources.map((path) => resolve(dirname(bundle), path));
  } catch {
    return []; // has no source map
  }
}
