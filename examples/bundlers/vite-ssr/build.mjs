/** node build.mjs OUT [--external] */
import { build } from "vite";

const [outDir, isExternal] = process.argv.slice(2);

await build({
  configFile: false,
  logLevel: "error",
  ssr: { noExternal: isExternal ? undefined : true },
  build: {
    ssr: true,
    minify: true,
    emptyOutDir: true,
    outDir,
    rolldownOptions: {
      input: { main: "../program/main.mjs", tasks: "../program/tasks.mjs" },
      output: { entryFileNames: "[name].mjs" },
    },
  },
});
