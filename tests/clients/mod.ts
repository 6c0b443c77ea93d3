/** The programs of `npm run test:clients`, in the order of its table. */
import { angular, angularI18n, angularPrerender } from "./angular.ts";
import { docusaurus, fastify, html, lingui, metro, repomix } from "./builders.ts";
import { type Client, functions, generate, repeat, testFile, two, webpackBuild } from "./client.ts";
import { cspell, mdx, stylelint, tailwind } from "./linters.ts";

const ASSERT = `const assert = require("node:assert");
const { createHash } = require("node:crypto");`;

const mocha: Client = {
  title: "Mocha 12, `--parallel`",
  project: "12 files of tests",
  swaps: "workerpool",
  packages: { mocha: "12.0.3" },
  files: generate(12, (n) => `test/${two(n)}.spec.js`, (n) =>
    `${testFile(n, ASSERT, "test.skip")}
test("file ${n} fails", () => assert.deepEqual([${n}, 2], [${n}, 3]));`),
  command: ["MODULES/mocha/bin/mocha.js", "--parallel", "--jobs=2", "--ui=tdd", "test"],
};

const webpack: Client = {
  title: "webpack 5, terser-webpack-plugin",
  project: "20 entries of 120 functions",
  swaps: "jest-worker",
  packages: { webpack: "5.113.0", "terser-webpack-plugin": "5.6.1" },
  files: {
    ...generate(
      20,
      (n) => `src/${two(n)}.js`,
      (n) =>
        `${functions(n, 120)}globalThis.total${n} = [${
          repeat(120, (i) => `accumulateWorthOfItem${i},`)
        }];`,
    ),
    "build.js": webpackBuild(`const Terser = require("terser-webpack-plugin");
const numbers = Array.from({ length: 20 }, (_, number) => String(number).padStart(2, "0"));
const config = {
  entry: Object.fromEntries(numbers.map((number) => [number, "./src/" + number + ".js"])),
  output: { path: __dirname + "/dist" },
  optimization: { minimizer: [new Terser({ parallel: 2 })] },
};`),
  },
  command: ["build.js"],
  written: ["dist"],
};

const eslint: Client = {
  title: "ESLint 9, eslint-plugin-prettier",
  project: "40 files, with faults of format",
  swaps: "synckit",
  packages: { eslint: "9.39.5", "eslint-plugin-prettier": "5.5.7", prettier: "3.10.1" },
  files: {
    ...generate(
      40,
      (n) => `src/${two(n)}.js`,
      (n) => functions(n, 20).replaceAll(`"kind-${n % 7}"`, `'kind'  `),
    ),
    "eslint.config.mjs": `import prettier from "eslint-plugin-prettier";
export default [{ files: ["**/*.js"], plugins: { prettier }, rules: { "prettier/prettier": "error", "no-var": "error" } }];
`,
  },
  command: ["MODULES/eslint/bin/eslint.js", "--format=json", "src"],
};

const jest: Client = {
  title: "Jest 30, processes",
  project: "12 files of tests",
  swaps: "jest-worker",
  packages: { jest: "30.5.2" },
  files: {
    ...generate(12, (n) => `test/${two(n)}.test.js`, (n) =>
      `${testFile(n, ASSERT, "test.skip")}
test("file ${n} has a snapshot", () => expect({ file: ${n} }).toMatchInlineSnapshot(\`
{
  "file": ${n},
}
\`));
test("file ${n} fails", () => { console.log("from file ${n}"); expect([${n}, 2]).toEqual([${n}, 3]); });`),
    "jest.config.json": `{ "cacheDirectory": "<rootDir>/cache" }`,
    "package.json": `{ "private": true }`,
  },
  command: ["MODULES/jest/bin/jest.js", "--ci", "--maxWorkers=2"],
  // With the times of an earlier run Jest would run short tests without workers.
  written: ["cache"],
};

const vitest: Client = {
  title: "Vitest 3, `--pool=threads`",
  project: "12 files of tests",
  swaps: "tinypool",
  packages: { vitest: "3.2.7" },
  files: generate(12, (n) => `test/${two(n)}.test.js`, (n) =>
    `${
      testFile(
        n,
        `import assert from "node:assert";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";`,
        "test.skip",
      )
    }
test("file ${n} fails", () => { console.log("from file ${n}"); expect([${n}, 2]).toEqual([${n}, 3]); });`),
  command: [
    "MODULES/vitest/vitest.mjs",
    "run",
    "--pool=threads",
    "--minWorkers=2",
    "--maxWorkers=2",
  ],
};

const swc: Client = {
  title: "@swc/cli",
  project: "200 files of 20 functions",
  swaps: "piscina",
  packages: { "@swc/cli": "0.8.1", "@swc/core": "1.16.22" },
  files: {
    ...generate(200, (n) => `src/${two(n)}.js`, (n) => functions(n, 20)),
    ".swcrc": `{ "module": { "type": "commonjs" }, "jsc": { "target": "es5" } }`,
  },
  command: ["MODULES/@swc/cli/bin/swc.js", "src", "-d", "dist", "--workers=2"],
  written: ["dist"],
};

const css: Client = {
  title: "webpack 5, css-minimizer-webpack-plugin",
  project: "20 style sheets of 200 rules",
  swaps: "jest-worker",
  packages: {
    webpack: "5.113.0",
    "css-loader": "7.1.5",
    "css-minimizer-webpack-plugin": "8.0.0",
    "mini-css-extract-plugin": "2.10.2",
  },
  files: {
    ...generate(20, (n) => `src/${two(n)}.js`, (n) => `import "./${two(n)}.css";`),
    ...generate(20, (n) => `src/${two(n)}.css`, (n) =>
      repeat(200, (rule) =>
        `/* rule ${rule} */
.block-${n} > .item-${rule} , .block-${n} .item-${rule}:hover {
  color : #ff${two(rule % 100)}00 ;
  margin : ${rule}px ${rule}px ${rule}px ${rule}px ;
  background-color : rgba( ${n} , ${rule} , 0 , 1.0 ) ;
}`)),
    "build.js": webpackBuild(`const Minimizer = require("css-minimizer-webpack-plugin");
const Extract = require("mini-css-extract-plugin");
const numbers = Array.from({ length: 20 }, (_, number) => String(number).padStart(2, "0"));
const config = {
  entry: Object.fromEntries(numbers.map((number) => [number, "./src/" + number + ".js"])),
  output: { path: __dirname + "/dist" },
  module: { rules: [{ test: /css$/, use: [Extract.loader, "css-loader"] }] },
  plugins: [new Extract()],
  optimization: { minimizer: [new Minimizer({ parallel: 2 })] },
};`),
  },
  command: ["build.js"],
  written: ["dist"],
};

export const CLIENTS: Readonly<Record<string, Client>> = {
  mocha,
  webpack,
  eslint,
  jest,
  "jest-threads": {
    ...jest,
    title: "Jest 30, `--workerThreads`",
    command: [...jest.command, "--workerThreads"],
  },
  vitest,
  "vitest-forks": {
    ...vitest,
    title: "Vitest 3, `--pool=forks`",
    command: vitest.command.map((part) => part.replace("=threads", "=forks")),
  },
  swc,
  css,
  html,
  stylelint,
  metro,
  angular,
  "angular-i18n": angularI18n,
  "angular-prerender": angularPrerender,
  fastify,
  docusaurus,
  lingui,
  repomix,
  cspell,
  mdx,
  tailwind,
};
