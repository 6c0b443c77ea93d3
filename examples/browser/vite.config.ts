import { defineConfig } from "vite";

/** With these headers browsers let the page share memory with its workers. Without them calls travel by messages. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  server: { headers },
  preview: { headers },
  worker: { format: "es" },
});
