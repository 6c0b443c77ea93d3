/**
 * The conformance suite with workers of another kind: `HEDDLE_TEST_WORKERS=processes`, `messages` for threads that share no memory
 * with their host, or `host` for pools without threads.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";
import { filesOf, type Kind, leftOutOf } from "./suite.ts";

const kind = (process.env["HEDDLE_TEST_WORKERS"] ?? "processes") as Kind;
const escaped = leftOutOf(kind).map(([name]) =>
  name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
);

const config = mergeConfig(
  base,
  defineConfig({
    root: fileURLToPath(new URL("../../", import.meta.url)),
    test: {
      setupFiles: ["tests/other-workers/setup.ts"],
      testNamePattern: new RegExp(`^(?!.*(?:${escaped.join("|")}))`, "s"),
    },
  }),
);
config.test!.include = filesOf(kind).map((name) => `tests/conformance/${name}.test.ts`);

export default config;
