import { defineConfig } from "vitepress";
import { chartImages } from "./charts.ts";
import { SIDEBAR, slugify } from "./navigation.ts";

// `npm run docs` writes the pages first (scripts/docs.ts).
export default defineConfig({
  title: "heddle",
  description: "Call functions in worker threads of Node, Deno and Bun as if they were local.",
  srcDir: ".vitepress/pages",
  outDir: ".vitepress/dist",
  cacheDir: ".vitepress/cache",
  head: [["link", { rel: "icon", href: "data:," }]],
  // `html: false`: text such as Promise<T> is text.
  markdown: { html: false, anchor: { slugify }, config: chartImages },
  vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Quick start", link: "/quick-start" },
      { text: "Options", link: "/options" },
      { text: "API", link: "/api" },
      { text: "Benchmarks", link: "/benchmarks/" },
    ],
    sidebar: SIDEBAR,
    outline: { level: [2, 3] },
  },
});
