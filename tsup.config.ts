import { defineConfig } from "tsup";

// Entries in the same relative places as the sources, so that one line finds the worker in both.
export default defineConfig({
  entry: {
    "mod": "src/mod.ts",
    "task": "src/mod-task.ts",
    "nats": "src/mod-nats.ts",
    "worker/entry": "src/worker/entry.ts",
  },
  format: ["esm"],
  target: "node22",
  platform: "node",
  // Readers of `using`'s types need no setting of their own.
  dts: {
    entry: { mod: "src/mod.ts", task: "src/mod-task.ts", nats: "src/mod-nats.ts" },
    banner: '/// <reference lib="esnext.disposable" />\n',
  },
  // A seventh of the time that importing takes Node goes into spaces and comments. Names stay, and so do short lines,
  // of which runtimes print the one that threw.
  esbuildOptions: (options) => {
    options.minifyWhitespace = true;
    options.lineLimit = 120;
  },
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
});
