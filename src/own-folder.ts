/** Where heddle's own modules are, unless a bundler has copied them into a bundle that lies somewhere else. */
import { URL } from "./builtins.ts";

export interface OwnFolder {
  readonly library: string;
  /** The module that workers start with. */
  readonly worker: URL;
  /** `heddle/shared`, in the same format as this one. */
  readonly shared: URL;
}

/**
 * This file, or the chunk that contains it, and the others lie in the same places in the sources and in the build. The name of
 * the built one for workers is unlikely beside a bundle. Bundles for CommonJS have no URL. `workerName`: its file, without the ending.
 */
export function ownFolder(
  { exists }: { readonly exists: (url: URL) => boolean },
  workerName = "heddle-worker",
): OwnFolder | undefined {
  const base = import.meta.url as string | undefined;
  if (base === undefined || !URL.canParse(base)) return undefined;
  const library = folderOf(base);
  const isSource = base.endsWith(".ts");
  const worker = new URL(
    library + (isSource ? `${workerName.replace("heddle", "mod")}.ts` : `${workerName}.js`),
  );
  const shared = isSource ? "mod-shared.ts" : base.endsWith(".cjs") ? "shared.cjs" : "shared.js";
  return exists(worker) ? { library, worker, shared: new URL(library + shared) } : undefined;
}

/** Not by `new URL("./", …)`, for which bundlers would add the folder to their output. */
export function folderOf(url: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1);
}
