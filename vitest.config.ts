import { defineConfig } from "vitest/config";

// Which pool of processes or threads works depends on the runtime: forks fail on Bun, threads on Deno.
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["**/node_modules/**", ".package-test/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores, and most files start workers of their own.
    fileParallelism: false,
    pool: "Bun" in globalThis ? "threads" : "forks",
    typecheck: { enabled: false },
  },
});
