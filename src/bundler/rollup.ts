/** The plugin for Rollup, Rolldown and Vite: a module of tasks is an entry of the build, whose file the bundler names. */
import { JSON, Set } from "../builtins.ts";
import { baseOf } from "../runtimes/node-api/bundling.ts";
import { notFound, replaceReferences } from "./references.ts";
import type { RollupPlugin } from "./types.ts";

/**
 * Builds the modules of tasks that a program names by `new URL("./tasks.ts?pool", import.meta.url)`. For Rollup, Rolldown and Vite.
 *
 * @example
 * ```ts
 * import { rollupPlugin } from "heddle/bundler";
 *
 * export default { input: "main.js", plugins: [rollupPlugin()] };
 * ```
 */
export function rollupPlugin(): RollupPlugin {
  const files = new Set<string | null>();
  return {
    name: "heddle",
    apply: "build",
    async transform(source, id, options) {
      if (options?.ssr === false) return undefined; // Vite builds the workers of pages itself.
      const code = await replaceReferences(source, async (specifier, at) => {
        const found = await this.resolve(specifier, id);
        if (found === null || found.external !== false) this.error(notFound(specifier, id), at);
        const file = this.emitFile({ type: "chunk", id: found.id, preserveSignature: "strict" });
        files.add(file);
        return `import.meta.ROLLUP_FILE_URL_${file}`;
      });
      // No map: only what follows a reference in its line moves.
      return code === undefined ? undefined : { code, map: null };
    },
    // Vite would begin the path with its option `base`, which is for pages.
    resolveFileUrl: {
      order: "pre",
      handler: ({ format, referenceId, relativePath }) =>
        files.has(referenceId)
          ? `new URL(${JSON.stringify(relativePath)}, ${baseOf(format)}).href`
          : null,
    },
  };
}
