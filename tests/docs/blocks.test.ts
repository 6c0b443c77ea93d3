/** Every code block of README and docs is run, type-checked or compared; the build must be up to date. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { runFile } from "../support/runtime.ts";
import { type Block, blocksIn, PAGES, readPage } from "./blocks.ts";
import { problemsOf } from "./commands.ts";

const folder = fileURLToPath(new URL(".blocks/", import.meta.url));
const compiler = fileURLToPath(
  new URL("../../node_modules/typescript7/bin/tsc", import.meta.url),
);

const TSCONFIG = {
  compilerOptions: {
    target: "ESNext",
    lib: ["ESNext", "DOM", "DOM.AsyncIterable"],
    module: "NodeNext",
    strict: true,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    skipLibCheck: true,
    types: ["node"],
  },
  include: ["**/*"],
};

const CODE = ["ts", "tsx", "js", "mjs", "cjs"];
const OTHER = [
  "sh",
  "json",
  "txt",
  "rust",
  "toml",
  "mermaid",
  "html",
  "yaml",
  "dockerfile",
  "diff",
  "",
];

const all = PAGES.flatMap((page) => blocksIn(page, readPage(page)));
const isChecked = ({ language, unchecked }: Block): boolean =>
  CODE.includes(language) && unchecked === undefined;

const programOf = ({ page, program }: Block): string =>
  `${page.replace(/\.md$/, "").replaceAll("/", "-").toLowerCase()}-${program}`;
const fileOf = (block: Block): string =>
  join(programOf(block), block.file ?? `fragment-${block.line}.${block.language}`);

/** The context precedes the code on its first line, so that lines keep their numbers. */
function writeBlocks(): void {
  rmSync(folder, { recursive: true, force: true });
  for (const block of all.filter(isChecked)) {
    const path = join(folder, fileOf(block));
    mkdirSync(dirname(path), { recursive: true });
    const isModule = !path.endsWith(".cjs");
    writeFileSync(
      path,
      `${block.context.replaceAll("\n", " ")} ${block.code}${isModule ? "export {};\n" : ""}`,
    );
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
}

/** Complaints of the compiler, by file. */
function checkTypes(): Map<string, string[]> {
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const complaints = new Map<string, string[]>();
  for (const line of stdout.split("\n")) {
    const [, file, text] = /^(.+?)(\(\d+,\d+\): error .*)$/.exec(line) ?? [];
    if (file === undefined) continue;
    complaints.set(file, [...complaints.get(file) ?? [], text!]);
  }
  return complaints;
}

writeBlocks();
const complaints = checkTypes();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the blocks are found, and the compiler sees their mistakes", () => {
  expect(all.filter(isChecked).length).toBeGreaterThan(50);
  const file = join(folder, "mistake.ts");
  writeFileSync(file, "const n: number = 'text';\nexport {};\n");
  expect(checkTypes().get("mistake.ts")).toHaveLength(1);
  rmSync(file);
});

test("the compiler complains of blocks alone", () => {
  const files = new Set(all.filter(isChecked).map(fileOf));
  expect([...complaints].filter(([file]) => !files.has(file))).toEqual([]);
});

describe.each(PAGES)("%s", (page) => {
  const blocks = all.filter((block) => block.page === page);
  const filesOf = ({ program }: Block): string[] =>
    blocks.filter((each) => each.program === program).flatMap(({ file }) => file ?? []);

  test("types", () => {
    const wrong = blocks.filter(isChecked).flatMap((block) =>
      (complaints.get(fileOf(block)) ?? []).map((text) => `line ${block.line} ${text}`)
    );
    expect(wrong).toEqual([]);
  });

  test("commands and data", () => {
    const wrong = blocks.filter(({ unchecked }) => unchecked === undefined).flatMap((block) => {
      const { language, code, line } = block;
      if (language === "json") JSON.parse(code);
      if (![...CODE, ...OTHER].includes(language)) return [`line ${line}: ${language}?`];
      return language === "sh"
        ? problemsOf(code, filesOf(block)).map((text) => `line ${line}: ${text}`)
        : [];
    });
    expect(wrong).toEqual([]);
  });

  test("a block that is not checked says why", () => {
    const reasons = blocks.flatMap(({ unchecked }) => unchecked ?? []);
    for (const reason of reasons) expect(reason.length).toBeGreaterThan(10);
  });

  const outputs = blocks.filter(({ outputOf }) => outputOf !== undefined);
  test.runIf(outputs.length > 0).each(outputs)("output of $outputOf, line $line", async (block) => {
    const { code, output } = await runFile(join(folder, programOf(block), block.outputOf!));
    expect({ code, output: output.trim() }).toEqual({ code: 0, output: block.code.trim() });
  });
});
