/**
 * The conformance suite in Chromium, against the browser's build. With HEDDLE_TEST_TRANSPORT=messages the page is not
 * cross-origin isolated, so that pools use messages. A flag gives it shared memory nevertheless, by which tests and tasks
 * observe each other.
 */
import { playwright } from "@vitest/browser-playwright";
import sparticuz from "@sparticuz/chromium";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { features } from "../../scripts/modules.ts";
import { filesOf, leftOutOf } from "./suite.ts";

const root: string = fileURLToPath(new URL("../../", import.meta.url));
const executablePath = process.env["CHROMIUM_PATH"] ?? await sparticuz.executablePath();
const isIsolated = process.env["HEDDLE_TEST_TRANSPORT"] !== "messages";
const flags = isIsolated ? [] : ["--enable-features=SharedArrayBuffer"];

/** What tests import from the sources is that of the build; what they use of Node is replaced. */
const REPLACED: Readonly<Record<string, string>> = {
  "src/mod.ts": "dist/browser/mod.js",
  "src/mod-task.ts": "dist/browser/task.js",
  "src/mod-core.ts": "dist/browser/core.js",
  ...Object.fromEntries(
    Object.entries(features).map(([name, path]) => [path, `dist/browser/${name}.js`]),
  ),
  "tests/support/runtime.ts": "tests/browser/runtime.ts",
  "node:process": "tests/browser/process.ts",
  "node:util": "tests/browser/node-util.ts",
  "node:timers/promises": "tests/browser/timers-promises.ts",
};

const PROCESS = 'import { process } from "/tests/browser/process.ts";';
/** The runner wraps imports, and is not there in workers. */
const NO_RUNNER = "globalThis.__vitest_browser_runner__ ??= { wrapDynamicImport: (f) => f() };";
const ABSENT = "\0absent:";

/** The names that the file imports from a module. */
function namesFrom(file: string, id: string): readonly string[] {
  const found = readFileSync(file, "utf8").matchAll(/import (?:type )?(.*?) from "([^"]+)"/gs);
  return [...found].filter(([, , from]) => from === id).flatMap(([, names = ""]) =>
    names.replaceAll(/[{}]/g, "").split(",")
      .map((name) => name.trim().replace(/^type /, "").split(" as ")[0]!).filter((name) =>
        name !== ""
      )
  );
}

const browser: Plugin = {
  name: "browser",
  enforce: "pre",
  resolveId(id, importer) {
    if (importer === undefined) return undefined;
    const file = importer.split("?")[0]!;
    const path = id.startsWith(".")
      ? fileURLToPath(new URL(id, `file://${file}`)).slice(root.length)
      : id;
    const other = REPLACED[path];
    if (other !== undefined) return root + other;
    return id.startsWith("node:") ? `${ABSENT}${id}?${file}` : undefined;
  },
  load(id) {
    if (!id.startsWith(ABSENT)) return undefined;
    const [name = "", file = ""] = id.slice(ABSENT.length).split("?");
    const names = namesFrom(file, name).map((each) =>
      `export function ${each}() { absent("${name}"); }\n${each}.from = ${each};`
    );
    // Tasks import it too, and have no test to skip.
    const absent = file.includes("/fixtures/")
      ? `function absent(what) { throw new Error("A browser has no " + what); }`
      : `import { absent } from "/tests/browser/absent.ts";`;
    return [absent, ...names].join("\n");
  },
  transform: (code, id) => {
    if (id.startsWith(`${root}dist/`)) return { code: NO_RUNNER + code, map: null };
    const isTest = id.startsWith(`${root}tests/`) && !id.startsWith(`${root}tests/browser/`);
    const needsProcess = /\bprocess[.[]/.test(code) && !code.includes("node:process");
    return isTest && needsProcess ? { code: PROCESS + code, map: null } : undefined;
  },
};

const escaped = leftOutOf(isIsolated).map(([name]) =>
  name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
);

export default defineConfig({
  root,
  plugins: [browser],
  server: {
    headers: isIsolated
      ? {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
      }
      : {},
  },
  test: {
    include: [`tests/conformance/{${filesOf(isIsolated).join()}}.test.ts`],
    setupFiles: ["tests/browser/setup.ts"],
    testNamePattern: new RegExp(`^(?!.*(?:${escaped.join("|")}))`, "s"),
    testTimeout: 60_000,
    fileParallelism: false,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { executablePath, args: ["--no-sandbox", ...flags] } }),
      instances: [{ browser: "chromium" }],
    },
  },
});
