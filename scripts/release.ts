/**
 * `npm run release`: checks that the tree can be released, then publishes heddle to npm and JSR, the packages in `packages` to npm, and
 * tags the commit. With `--dry-run` it checks the same, packs, and publishes nothing: that works offline and in a changed tree. Run
 * `npm cit` before it. `.github/workflows/release.yml` runs it with a statement of provenance.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const isDry = process.argv.includes("--dry-run");
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8");
const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, { cwd: root, encoding: "utf8", stdio: ["inherit", "pipe", "pipe"] });

const { version } = JSON.parse(read("package.json")) as { version: string };
const problems: string[] = [];

/** The version in the other places that state it. */
for (
  const [path, pattern] of [
    ["deno.json", /"version": "(.+?)"/],
    ["package-lock.json", /"version": "(.+?)"/],
    ["src/version.ts", /VERSION = "(.+?)"/],
  ] as const
) {
  const found = pattern.exec(read(path))?.[1];
  if (found !== version) problems.push(`${path} has version ${found}, package.json ${version}`);
}

/** Workspaces have the version of heddle, which they need. */
const packages = readdirSync(`${root}packages`).filter((name) =>
  existsSync(`${root}packages/${name}/package.json`)
);
for (const name of packages) {
  const own = JSON.parse(read(`packages/${name}/package.json`)) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  if (own.version !== version || own.dependencies["heddle"] !== `^${version}`) {
    problems.push(`packages/${name} is not of version ${version}, or not for it`);
  }
  if (!existsSync(`${root}packages/${name}/dist/mod.js`)) {
    problems.push(`there is no build of packages/${name}: npm run build`);
  }
}

const heading = read("CHANGELOG.md").split("\n").find((line) => line.startsWith(`## ${version}`));
if (heading === undefined) problems.push(`CHANGELOG.md has no section ${version}`);
else if (!isDry && heading.includes("unreleased")) problems.push(`CHANGELOG.md: "${heading}"`);
if (!existsSync(`${root}dist/mod.js`)) problems.push("there is no build: npm run build");
if (!isDry) {
  if (run("git", "status", "--porcelain") !== "") problems.push("the tree has changes");
  if (run("git", "tag", "--list", `v${version}`) !== "") problems.push(`v${version} is tagged`);
}
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}

const deno = `${root}node_modules/.bin/deno`;
const dry = isDry ? ["--dry-run"] : [];
// A dry run of `npm publish` asks the registry, so npm packs instead.
const publish = [isDry ? "pack" : "publish", ...dry, "--ignore-scripts"];
console.log(run("npm", ...publish));
const access = isDry ? [] : ["--access", "public"];
for (const name of packages) console.log(run("npm", ...publish, ...access, `./packages/${name}`));
run(deno, "publish", ...dry, ...(isDry ? ["--allow-dirty"] : []));
if (!isDry) run("git", "tag", "--annotate", `v${version}`, "--message", `heddle ${version}`);
console.log(
  isDry ? `heddle ${version} can be released` : `heddle ${version} is released: git push --tags`,
);
