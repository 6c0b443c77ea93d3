/** node build.mjs OUT [--external] [--plugin] */
import { rollupPlugin } from "heddle/bundler";
import { build } from "vite";

const [outDir, ...flags] = process.argv.slice(2);
const hasPlugin = flags.includes("--plugin");

await build({
  configFile: false,
  logLevel: "error",
  plugins: [hasPlugin && rollupPlugin()],
  ssr: { noExternal: flags.includes("--external") ? undefined : true },
  build: {
    ssr: true,
    minify: true,
    emptyOutDir: true,
    outDir,
    rolldownOptions: {
      input: hasPlugin
        ? { main: "../program/with-plugin.mjs" }
        : { main: "../program/main.mjs", tasks: "../program/tasks.mjs" },
      output: { entryFileNames: "[name].mjs" },
    },
  },
});
