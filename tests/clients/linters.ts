/** Programs that look for faults. */
import { type Client, functions, generate, prose, repeat, two } from "./client.ts";

export const cspell: Client = {
  title: "ESLint 9, @cspell/eslint-plugin",
  project: "40 files, with words that are misspelled",
  swaps: "synckit",
  packages: { eslint: "9.39.5", "@cspell/eslint-plugin": "10.3.6" },
  files: {
    ...generate(
      40,
      (n) => `src/${two(n)}.js`,
      (n) =>
        `// The shutle of file ${n} recieves a thread.
export const colourOfThred${n} = "${prose(n)} ${n % 2 === 0 ? "Wefft" : "Weft"}";
${functions(n, 10)}`,
    ),
    "eslint.config.mjs": `import cspell from "@cspell/eslint-plugin";
export default [{
  files: ["**/*.js"],
  plugins: { "@cspell": cspell },
  rules: { "@cspell/spellchecker": ["warn", { numSuggestions: 3, generateSuggestions: true }] },
}];
`,
  },
  command: ["MODULES/eslint/bin/eslint.js", "--format=json", "src"],
};

export const mdx: Client = {
  title: "ESLint 10, eslint-plugin-mdx",
  project: "40 MDX pages, with faults",
  swaps: "synckit",
  packages: {
    eslint: "10.15.0",
    "eslint-plugin-mdx": "3.8.3",
    "remark-preset-lint-consistent": "6.0.1",
    "remark-preset-lint-recommended": "7.0.1",
  },
  files: {
    ...generate(40, (n) => `pages/${two(n)}.mdx`, (n) =>
      `import { Loom } from "./loom.js";

# Page ${n}

${
        repeat(12, (i) =>
          `## Section ${i}

${prose(n + i, 25)}

* item ${i}
- item of the other kind

<Loom count={${n} + ${i}}>*woven* ${i}</Loom>

\`\`\`js
var item${i} = ${n};
\`\`\`
`)
      }
[a link that nothing defines][nowhere-${n}]
`),
    "eslint.config.mjs": `import * as mdx from "eslint-plugin-mdx";
export default [
  { ...mdx.flat, processor: mdx.createRemarkProcessor({ lintCodeBlocks: true }) },
  { ...mdx.flatCodeBlocks, rules: { ...mdx.flatCodeBlocks.rules, "no-var": "error" } },
];
`,
    ".remarkrc.json":
      `{ "plugins": ["remark-preset-lint-consistent", "remark-preset-lint-recommended"] }`,
    "package.json": `{ "private": true }`,
  },
  command: ["MODULES/eslint/bin/eslint.js", "--format=json", "pages"],
};

export const tailwind: Client = {
  title: "ESLint 10, eslint-plugin-better-tailwindcss",
  project: "60 components, with classes in disorder",
  swaps: "synckit",
  packages: {
    eslint: "10.15.0",
    "eslint-plugin-better-tailwindcss": "4.7.0",
    tailwindcss: "4.3.5",
  },
  files: {
    ...generate(
      60,
      (n) => `src/${two(n)}.jsx`,
      (n) =>
        repeat(25, (i) =>
          `export const Part${i} = () => (
  <div className="text-white p-${i % 12} flex  bg-blue-${1 + n % 9}00 mt-${n % 8} mb-${
            n % 8
          } flex unknown-${i}">
    <b className="hover:underline font-bold px-${i % 6} py-${i % 6} md:text-lg">${i}</b>
  </div>
);`),
    ),
    "main.css": `@import "tailwindcss";\n`,
    "eslint.config.mjs": `import tailwind from "eslint-plugin-better-tailwindcss";
export default [{
  files: ["**/*.jsx"],
  languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
  plugins: { "better-tailwindcss": tailwind },
  settings: { "better-tailwindcss": { entryPoint: "main.css" } },
  rules: {
    ...Object.fromEntries([
      "enforce-consistent-class-order",
      "enforce-shorthand-classes",
      "no-conflicting-classes",
      "no-duplicate-classes",
      "no-unknown-classes",
    ].map((rule) => ["better-tailwindcss/" + rule, "warn"])),
  },
}];
`,
    "package.json": `{ "private": true }`,
  },
  command: ["MODULES/eslint/bin/eslint.js", "--format=json", "src"],
};

const styles = (n: number): string =>
  repeat(120, (rule) =>
    `/* rule ${rule} */
.block-${n} > .item-${rule}, .block-${n} .item-${rule}:hover {
  color: #FF${two(rule % 100)}00;
  margin: ${rule}px ${rule}px ${rule}px ${rule}px;
  ${rule % 10 === 0 ? "colour: red;" : "opacity: .5;"}
}`);

export const stylelint: Client = {
  title: "webpack 5, stylelint-webpack-plugin",
  project: "40 style sheets of 120 rules, with faults",
  swaps: "jest-worker",
  packages: {
    webpack: "5.113.0",
    stylelint: "17.16.0",
    "stylelint-webpack-plugin": "5.1.0",
  },
  files: {
    ...generate(40, (n) => `src/${two(n)}.css`, styles),
    "src/index.js": "globalThis.isLoaded = true;\n",
    ".stylelintrc.json":
      `{ "rules": { "color-hex-length": "short", "property-no-unknown": true, "no-descending-specificity": true, "declaration-block-no-shorthand-property-overrides": true } }`,
    "build.js": `const Stylelint = require("stylelint-webpack-plugin");
const webpack = require("webpack");
const compiler = webpack({
  mode: "production",
  context: __dirname,
  cache: false,
  output: { path: __dirname + "/dist" },
  plugins: [new Stylelint({ threads: 2, cache: false, failOnError: false, failOnWarning: false })],
});
compiler.run((error, stats) => {
  console.log(error ?? stats.toString({ all: false, errors: true, warnings: true }));
  process.exitCode = stats?.hasErrors() ? 1 : 0;
  compiler.close(() => console.log("closed"));
});
`,
  },
  command: ["build.js"],
  written: ["dist"],
};
