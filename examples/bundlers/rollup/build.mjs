/** node build.mjs OUT [--external] [--plugin] */
import { rollupPlugin } from "heddle/bundler";
import { rollup } from "rollup";
import { fileURLToPath } from "node:url";

const [dir, ...flags] = process.argv.slice(2);
const isExternal = flags.includes("--external");
const hasPlugin = flags.includes("--plugin");

/** What @rollup/plugin-node-resolve does, for one package. */
const findHeddle = {
  name: "find-heddle",
  resolveId: (id) => /^heddle(\/|$)/.test(id) ? fileURLToPath(import.meta.resolve(id)) : null,
};

const bundle = await rollup({
  input: hasPlugin
    ? { main: "../program/with-plugin.mjs" }
    : { main: "../program/main.mjs", tasks: "../program/tasks.mjs" },
  external: isExternal ? [/^(node:|heddle)/] : [/^node:/],
  plugins: [hasPlugin && rollupPlugin(), !isExternal && findHeddle],
});
await bundle.write({
  dir,
  format: "es",
  entryFileNames: "[name].mjs",
  chunkFileNames: "[name]-[hash].mjs", // also of modules of tasks that the plugin finds
});
