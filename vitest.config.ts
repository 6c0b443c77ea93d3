import { defineConfig } from "vitest/config";

/** Suites that start tools of Node: the compiler, VitePress, browsers. */
const onNode = ["tests/docs/**", "tests/site/**", "tests/browser/**"];
const isNode = !("Bun" in globalThis) && !("Deno" in globalThis);

// Which pool of processes or threads works depends on the runtime: forks fail on Bun, threads on Deno.
export default defineConfig({
  test: {
    include: ["{tests,benchmarks,scripts,examples,packages}/**/*.test.ts"],
    exclude: [
      "**/node_modules/**",
      ".package-test/**",
      ".without-test/**",
      ...(isNode ? [] : onNode),
    ],
    // Workspaces are links, whose code would be transformed.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores, and most files start workers of their own.
    fileParallelism: false,
    pool: "Bun" in globalThis ? "threads" : "forks",
    typecheck: { enabled: false },
  },
});
