/** node build.mjs OUT [--external] */
import { rollup } from "rollup";
import { fileURLToPath } from "node:url";

const [dir, isExternal] = process.argv.slice(2);

/** What @rollup/plugin-node-resolve does, for one package. */
const findHeddle = {
  name: "find-heddle",
  resolveId: (id) => /^heddle(\/|$)/.test(id) ? fileURLToPath(import.meta.resolve(id)) : null,
};

const bundle = await rollup({
  input: { main: "../program/main.mjs", tasks: "../program/tasks.mjs" },
  external: isExternal ? [/^(node:|heddle)/] : [/^node:/],
  plugins: isExternal ? [] : [findHeddle],
});
await bundle.write({ dir, format: "es", entryFileNames: "[name].mjs" });
