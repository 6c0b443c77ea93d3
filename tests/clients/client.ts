/** A real program and a project of ours that it builds or tests, for `npm run test:clients`. */
export interface Client {
  readonly title: string;
  /** What the project consists of. */
  readonly project: string;
  /** The dependency whose place a package of `packages/` takes. */
  readonly swaps: "jest-worker" | "piscina" | "synckit" | "tinypool" | "workerpool";
  /** Exact versions. */
  readonly packages: Readonly<Record<string, string>>;
  /** Contents by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Arguments of Node, in the folder of the project. `MODULES/` at the start stands for its `node_modules`. */
  readonly command: readonly string[];
  /** Folders that the program writes, removed before each run. Those but `cache` have to be equal. */
  readonly written?: readonly string[];
}

/** One file for each number below `count`. */
export function generate(
  count: number,
  path: (number: number) => string,
  text: (number: number) => string,
): Record<string, string> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return Object.fromEntries(numbers.map((number) => [path(number), text(number)]));
}

export const repeat = (count: number, text: (number: number) => string): string =>
  Array.from({ length: count }, (_, number) => text(number)).join("\n");

/** Functions with comments, branches and long names, for compilers to do something about. */
export const functions = (file: number, count: number): string =>
  repeat(
    count,
    (number) =>
      `/** Adds what item ${number} of file ${file} is worth. */
export function accumulateWorthOfItem${number}(itemsOfFile, startingValue = ${number}) {
  let accumulatedValue = startingValue;
  for (const currentItem of itemsOfFile) {
    if (currentItem.kind === "kind-${number % 7}") {
      accumulatedValue += currentItem.value * ${file + number};
    } else if (currentItem.value > ${number}) {
      accumulatedValue -= Math.max(currentItem.value, ${file}) % ${number + 3};
    }
  }
  return { accumulatedValue, description: \`item ${number}: \${accumulatedValue}\` };
}
`,
  );

/** A file of tests with a global `test`: eight that compute, and one that is skipped. */
export const testFile = (file: number, head: string, skip: string): string =>
  `${head}
const digest = (rounds) => {
  let text = "file ${file}";
  for (let round = 0; round < rounds; round++) text = createHash("sha256").update(text).digest("hex");
  return text;
};
${
    repeat(8, (number) =>
      `test("file ${file} computes ${number}", async () => {
  await new Promise((resolve) => setTimeout(resolve, ${number}));
  assert.equal(digest(${2000 + number}).length, 64);
});`)
  }
${skip}("file ${file} skips this", () => assert.fail());
`;

/** webpack without cache, ended as its CLI does. */
export const webpackBuild = (config: string): string =>
  `const webpack = require("webpack");
${config}
const compiler = webpack({ mode: "production", devtool: false, cache: false, context: __dirname, ...config });
compiler.run((error, stats) => {
  if (error ?? stats.hasErrors()) {
    console.error(error ?? stats.toString("errors-only"));
    process.exitCode = 1;
  }
  compiler.close(() => console.log(stats?.toJson({ all: false, assets: true }).assets.length, "files"));
});
`;

/** A number below a hundred in two digits. */
export const two = (number: number): string => String(number).padStart(2, "0");

const WORDS = ["warp", "weft", "shuttle", "thread", "fabric", "pattern", "colour", "tension"];

/** A paragraph whose words depend on the number. */
export const prose = (number: number, words = 60): string =>
  Array.from(
    { length: words },
    (_, at) => WORDS[(number * 7 + at * at + (at >> 1)) % WORDS.length],
  ).join(" ") + ".";

/** A script that runs a program of the installation, with variables of the environment, and without what its output says of the time. */
export const wrapper = (
  [path, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  removed: RegExp,
): string =>
  `const { spawnSync } = require("node:child_process");
const args = [__dirname + "/../../node_modules/${path}", ...${JSON.stringify(args)}];
const { status, stdout } = spawnSync(process.execPath, args, {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
  // Warnings have the id of the process.
  env: { ...process.env, NODE_NO_WARNINGS: "1", ...${JSON.stringify(env)} },
});
console.log(stdout.replaceAll(${removed}, ""));
process.exitCode = status ?? 1;
`;
