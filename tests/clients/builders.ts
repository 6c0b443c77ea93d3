/** Programs that build, pack and serve. */
import {
  type Client,
  functions,
  generate,
  prose,
  repeat,
  two,
  webpackBuild,
  wrapper,
} from "./client.ts";

export const docusaurus: Client = {
  title: "Docusaurus 3, threads for static pages",
  project: "160 pages",
  swaps: "tinypool",
  packages: {
    "@docusaurus/core": "3.10.2",
    "@docusaurus/faster": "3.10.2",
    "@docusaurus/plugin-content-docs": "3.10.2",
    "@docusaurus/theme-classic": "3.10.2",
    "@mdx-js/react": "3.1.1",
    react: "19.3.1",
    "react-dom": "19.3.1",
  },
  files: {
    ...generate(160, (n) => `docs/part-${n % 8}/page-${two(n)}.md`, (n) =>
      `---
title: Page ${n}${n === 0 ? "\nslug: /" : ""}
---

${
        repeat(6, (i) =>
          `## Section ${i} of page ${n}

${prose(n + i)} See [the next page](../part-${(n + 1) % 8}/page-${two((n + 1) % 160)}.md).

\`\`\`js
const item${i} = weave(${n}, ${i});
\`\`\`
`)
      }`),
    "docusaurus.config.js": `module.exports = {
  title: "Loom",
  url: "https://loom.example",
  baseUrl: "/",
  plugins: [["@docusaurus/plugin-content-docs", { routeBasePath: "/" }]],
  themes: ["@docusaurus/theme-classic"],
  onBrokenLinks: "throw",
  future: {
    v4: true,
    faster: {
      swcJsLoader: true,
      swcJsMinimizer: true,
      swcHtmlMinimizer: true,
      lightningCssMinimizer: true,
      mdxCrossCompilerCache: true,
      rspackBundler: true,
      rspackPersistentCache: false,
      ssgWorkerThreads: true,
    },
  },
};
`,
    "package.json": `{ "private": true }`,
    "build.cjs": wrapper(
      ["@docusaurus/core/bin/docusaurus.mjs", "build"],
      { NO_UPDATE_NOTIFIER: "1", DOCUSAURUS_GENERATED_FILES_DIR_NAME: "cache" },
      / in [0-9.]+ (seconds|ms)/g,
    ),
  },
  command: ["build.cjs"],
  written: ["build", "cache"],
};

export const html: Client = {
  title: "webpack 5, html-minimizer-webpack-plugin",
  project: "40 pages of 150 sections",
  swaps: "jest-worker",
  packages: {
    webpack: "5.113.0",
    "copy-webpack-plugin": "14.0.0",
    "html-minimizer-webpack-plugin": "6.0.0",
  },
  files: {
    ...generate(40, (n) => `pages/${two(n)}.html`, (n) =>
      `<!doctype html>
<html lang="en">
<head><title>Page ${n}</title><style>  body { color : red ; }  </style></head>
<body>
${
        repeat(150, (i) =>
          `  <section class="  part   part-${i} " style="margin : ${i}px">
    <!-- section ${i} -->
    <h2>   Section ${i} of   page ${n} </h2>
    <p>${prose(n + i, 20)}</p>
    <script>  const value${i} = ${i} + ${n} ; </script>
  </section>`)
      }
</body>
</html>
`),
    "src/index.js": "globalThis.isLoaded = true;\n",
    "build.js": webpackBuild(`const Copy = require("copy-webpack-plugin");
const Minimizer = require("html-minimizer-webpack-plugin");
const config = {
  output: { path: __dirname + "/dist" },
  plugins: [new Copy({ patterns: [{ from: "pages" }] })],
  optimization: { minimizer: [new Minimizer({ parallel: 2 })] },
};`),
  },
  command: ["build.js"],
  written: ["dist"],
};

export const metro: Client = {
  title: "Metro 0.87",
  project: "a bundle of 40 modules of 20 functions",
  swaps: "jest-worker",
  packages: { metro: "0.87.1" },
  files: {
    ...generate(40, (n) => `src/${two(n)}.js`, (n) => functions(n, 20)),
    "src/index.js": `${repeat(40, (n) => `import * as part${n} from "./${two(n)}.js";`)}
globalThis.parts = [${Array.from({ length: 40 }, (_, n) => `part${n}`).join(", ")}];
`,
    "build.cjs": `const Metro = require("metro");
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
(async () => {
  for (const folder of ["cache", "dist"]) mkdirSync(folder);
  const config = await Metro.loadConfig({ config: join(__dirname, "metro.config.cjs") });
  await Metro.runBuild({ ...config, fileMapCacheDirectory: join(__dirname, "cache") }, {
    entry: "src/index.js",
    out: "dist/bundle.js",
    platform: "web",
    dev: false,
    minify: true,
    sourceMap: true,
    sourceMapUrl: "bundle.js.map",
  });
  const map = readFileSync("dist/bundle.map", "utf8");
  writeFileSync("dist/bundle.map", map.replaceAll(join(__dirname, "../.."), ""));
  console.log("bundled");
})();
`,
    "metro.config.cjs": `module.exports = {
  projectRoot: __dirname,
  watchFolders: [require("node:path").join(__dirname, "../../node_modules")],
  maxWorkers: 2,
  cacheStores: [],
  resetCache: true,
  reporter: { update() {} },
  transformer: {
    getTransformOptions: async () => ({ transform: { experimentalImportSupport: true, inlineRequires: false } }),
  },
};
`,
    "package.json": `{ "private": true }`,
  },
  command: ["build.cjs"],
  written: ["dist", "cache"],
};

export const lingui: Client = {
  title: "Lingui 6, extract and compile",
  project: "120 components, 4 languages",
  swaps: "tinypool",
  packages: {
    "@lingui/cli": "6.11.0",
    "@lingui/format-json": "6.6.0",
    "@lingui/react": "6.11.0",
    react: "19.3.1",
  },
  files: {
    ...generate(
      120,
      (n) => `src/${two(n)}.jsx`,
      (n) =>
        `import { Trans, Plural } from "@lingui/react/macro";
import { t } from "@lingui/core/macro";
${
          repeat(6, (i) =>
            `export function Part${i}({ name, count }) {
  return <section title={t\`Title of ${n} ${i}\`}>
    <Trans>Hello {name}, part ${i} of file ${n} has <b>news</b>.</Trans>
    <Plural value={count} one="# thread in ${n}" other="# threads in ${n}" />
  </section>;
}`)
        }
`,
    ),
    "lingui.config.mjs": `import { formatter } from "@lingui/format-json";
export default {
  sourceLocale: "en",
  locales: ["en", "de", "fr", "cs"],
  catalogs: [{ path: "<rootDir>/locales/{locale}/messages", include: ["src"] }],
  format: formatter({ style: "lingui" }),
};
`,
    "build.mjs": `import { spawnSync } from "node:child_process";
for (const part of ["extract", "compile"]) {
  const path = import.meta.dirname + "/../../node_modules/@lingui/cli/dist/lingui.js";
  const { status } = spawnSync(process.execPath, [path, part, "--workers=2", "--verbose"], {
    stdio: "inherit",
    env: { ...process.env, JITI_FS_CACHE: "false" },
  });
  process.exitCode ||= status ?? 1;
}
`,
    "package.json": `{ "private": true, "type": "module" }`,
  },
  command: ["build.mjs"],
  written: ["locales"],
};

export const repomix: Client = {
  title: "Repomix",
  project: "300 files of 12 functions",
  swaps: "tinypool",
  packages: { repomix: "1.18.1" },
  files: {
    ...generate(
      300,
      (n) => `src/part-${n % 10}/${two(n)}.js`,
      (n) => functions(n, 12).replaceAll("accumulate", `accumulateIn${n}`),
    ),
    // Its command, but without the spinner, which names files as they are done.
    // It counts anew: what it remembers in the folder for temporary files would spare the pool work.
    "pack.mjs": `import { mkdirSync } from "node:fs";
process.env.TMPDIR = process.cwd() + "/cache";
mkdirSync("cache");
const { runCli } = await import("repomix");
const { packResult } = await runCli(["src"], process.cwd(), {
  quiet: true,
  output: "packed/all.xml",
  compress: true,
  removeComments: true,
  gitSortByChanges: false,
});
const { totalFiles, totalCharacters, totalTokens, fileTokenCounts } = packResult;
console.log(totalFiles, totalCharacters, totalTokens, JSON.stringify(fileTokenCounts));
`,
  },
  command: ["pack.mjs"],
  written: ["packed", "cache"],
};

export const fastify: Client = {
  title: "fastify-piscina",
  project: "a server that answers 2000 requests of its own",
  swaps: "piscina",
  packages: { fastify: "5.12.8", "fastify-piscina": "4.0.0" },
  files: {
    "task.cjs": `const { createHash } = require("node:crypto");
module.exports = ({ number }) => {
  let text = "request " + number;
  for (let round = 0; round < 600; round++) text = createHash("sha256").update(text).digest("hex");
  return { number, text };
};
`,
    "server.mjs": `import { createHash } from "node:crypto";
import fastify from "fastify";
import pool from "fastify-piscina";
const server = fastify();
server.register(pool, { filename: import.meta.dirname + "/task.cjs", minThreads: 2, maxThreads: 2 });
server.addHook("onClose", () => server.piscina.destroy());
server.get("/:number", (request) => server.piscina.run(request.params));
const address = await server.listen({ port: 0, host: "127.0.0.1" });
const texts = [];
for (let from = 0; from < 2000; from += 50) {
  texts.push(...await Promise.all(
    Array.from({ length: 50 }, async (_, at) => (await fetch(address + "/" + (from + at))).text()),
  ));
}
await server.close();
console.log(texts.length, "answers", createHash("sha256").update(texts.join()).digest("hex"));
`,
  },
  command: ["server.mjs"],
};
