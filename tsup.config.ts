import { defineConfig } from "tsup";

// Two entries in the same relative places as the sources, so that one line finds the worker in both.
export default defineConfig({
  entry: { "mod": "src/mod.ts", "worker/entry": "src/worker/entry.ts" },
  format: ["esm"],
  target: "node22",
  platform: "node",
  dts: { entry: { mod: "src/mod.ts" } },
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
});
