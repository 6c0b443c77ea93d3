/**
 * The API reference of the site: a page for each entry point, with its exported declarations and their doc comments, read from the
 * types of the build.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { API_PAGES, type ApiPage } from "../docs/.vitepress/navigation.ts";

interface Export {
  readonly name: string;
  readonly doc: string;
  readonly code: string;
  readonly kind: "value" | "type" | "error";
}

/** First on their pages. */
const FIRST = ["createPool", "task"];
const MARK = "// export ";

/** A doc comment as Markdown: links become code, examples a paragraph. */
function proseOf(comment: string): string {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, "").split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  return lines.join("\n").trim()
    .replace(/\{@link (\w+)\}/g, "`$1`")
    .replace(/^@example\s*/gm, "Example:\n\n")
    .replace(/^@(\w+) /gm, "**$1** ");
}

/** The statements that declare a symbol. */
function statementsOf({ declarations = [] }: ts.Symbol): ts.Node[] {
  const statements = declarations.map((node) =>
    ts.isVariableDeclaration(node) ? node.parent.parent : node
  );
  return [...new Set(statements)].filter((node) => !ts.isSourceFile(node));
}

function docOf(node: ts.Node): string {
  const { text } = node.getSourceFile();
  const comment = ts.getLeadingCommentRanges(text, node.getFullStart())?.at(-1);
  const doc = comment === undefined ? "" : text.slice(comment.pos, comment.end);
  return doc.startsWith("/**") ? proseOf(doc) : "";
}

function exportOf(symbol: ts.Symbol, checker: ts.TypeChecker): Export | undefined {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const nodes = statementsOf(target);
  if (nodes.length === 0) return undefined;
  const code = nodes.map((node) => node.getText().replace(/^export /, "")).join("\n");
  const isError = /class \w+ extends (Heddle)?Error\b/.test(code);
  const isValue = (target.flags & ts.SymbolFlags.Value) !== 0;
  const kind = isError ? "error" : isValue ? "value" : "type";
  return {
    name: symbol.name === "default" ? target.name : symbol.name,
    doc: docOf(nodes[0]!),
    code,
    kind,
  };
}

/** Declarations in lines of a hundred columns. */
function formatted(exports: readonly Export[], root: string): Export[] {
  const input = exports.map(({ code }) => `${MARK}\n${code}`).join("\n");
  const deno = join(root, "node_modules/.bin/deno");
  const output = execFileSync(deno, [
    "fmt",
    "--no-config",
    "--line-width",
    "100",
    "--ext",
    "ts",
    "-",
  ], {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const codes = output.split(`${MARK.trim()}\n`).slice(1);
  return exports.map((each, at) => ({
    ...each,
    code: codes[at]!.trim().replace(/^(export )?declare /gm, ""),
  }));
}

/** By entry point, as programs import it. */
function readExports(root: string): Map<string, Export[]> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, { types?: string; import?: { types: string } }>;
  };
  const files = new Map(
    Object.entries(exports).flatMap(([name, { types, import: own }]) => {
      const file = own?.types ?? types;
      if (file === undefined) return [];
      if (!name.endsWith("/*")) return [[posix.join("heddle", name), join(root, file)] as const];
      // The features: a file each, which are one page.
      const folder = join(root, file, "..");
      return readdirSync(folder).filter((each) => each.endsWith(".d.ts")).map((each) =>
        [
          posix.join("heddle", name, "..", each.replace(/\.d\.ts$/, "")),
          join(folder, each),
        ] as const
      );
    }),
  );
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    skipLibCheck: true,
    types: ["node"],
  });
  const checker = program.getTypeChecker();
  return new Map([...files].map(([entry, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    const found = checker.getExportsOfModule(module)
      .flatMap((symbol) => exportOf(symbol, checker) ?? []);
    const unique = [...new Map(found.map((each) => [each.name, each])).values()];
    return [entry, unique.sort(inOrder)];
  }));
}

function inOrder(a: Export, b: Export): number {
  const rank = ({ name }: Export): number => (FIRST.indexOf(name) + 1) || FIRST.length + 1;
  return rank(a) - rank(b) || a.name.localeCompare(b.name);
}

const section = ({ name, doc, code }: Export): string =>
  `### ${name}\n\n${doc}\n\n\`\`\`ts\n${code}\n\`\`\``;

const sectionsOf = (title: string, exports: readonly Export[]): string[] =>
  exports.length === 0 ? [] : [`## ${title}\n\n${exports.map(section).join("\n\n")}`];

const linkTo = ({ file, entries }: ApiPage): string =>
  `[${entries[0]}](/${file.replace(/^docs\//, "")})`;

/** Exports that another page describes: their names alone. */
const named = (page: ApiPage, exports: readonly Export[]): string[] =>
  exports.length === 0
    ? []
    : [`Described in ${linkTo(page)}: ${exports.map(({ name }) => `\`${name}\``).join(", ")}.`];

/** The pages as Markdown, by file. */
export function apiReference(root: string): Map<string, string> {
  const exports = readExports(root);
  const [main, task] = API_PAGES;
  const namesOf = (page: ApiPage): Set<string> =>
    new Set(page.entries.flatMap((entry) => exports.get(entry) ?? []).map(({ name }) => name));
  const ofTask = namesOf(task!);
  const ofMain = namesOf(main!);
  return new Map(API_PAGES.map((page) => {
    const all = page.entries.flatMap((entry) => exports.get(entry) ?? []);
    const isOfTask = ({ name }: Export): boolean => page !== task && ofTask.has(name);
    const isOfMain = (each: Export): boolean =>
      page !== main && page !== task && !isOfTask(each) && ofMain.has(each.name);
    const isShared = page === main || page.entries[0] === "heddle/browser";
    const isElsewhere = (each: Export): boolean => isShared && (isOfTask(each) || isOfMain(each));
    const own = formatted(all.filter((each) => !isElsewhere(each)), root);
    const elsewhere = isShared
      ? [...named(task!, all.filter(isOfTask)), ...named(main!, all.filter(isOfMain))]
      : [];
    const names = page.entries.map((entry) => `\`${entry}\``).join(" and ");
    const others = API_PAGES.filter((other) => other !== page).map(linkTo).join(", ");
    const text = [
      `# API: ${page.entries.join(", ")}`,
      `Every export of ${names}, with its declaration and its doc comment. Other entry points: ${others}.`,
      ...sectionsOf("Functions and values", own.filter(({ kind }) => kind === "value")),
      ...sectionsOf("Types", own.filter(({ kind }) => kind === "type")),
      ...sectionsOf("Errors", own.filter(({ kind }) => kind === "error")),
      ...(elsewhere.length === 0 ? [] : ["## Other exports", ...elsewhere]),
    ];
    return [page.file, `${text.join("\n\n")}\n`];
  }));
}
