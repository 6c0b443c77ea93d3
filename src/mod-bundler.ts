/**
 * Plugins for bundlers: a module of tasks that a program names by `new URL("./tasks.ts?pool", import.meta.url)` or
 * `import.meta.resolve("./tasks.ts?pool")` is built beside the program.
 *
 * @module
 */
export { esbuildPlugin } from "./bundler/esbuild.ts";
export { rollupPlugin } from "./bundler/rollup.ts";
export type { EsbuildPlugin, RollupPlugin } from "./bundler/types.ts";
