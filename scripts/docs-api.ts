/** The API reference of the site: exported declarations with their doc comments, read from the types of the build. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

interface Symbol {
  readonly name: string;
  readonly doc: string;
  readonly code: string;
  readonly isOfTask: boolean;
  readonly isError: boolean;
}

type Named = ts.Statement & { readonly name?: ts.Identifier };

/** A doc comment as Markdown: links become code, examples a paragraph. */
function proseOf(comment: string): string {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, "").split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  return lines.join("\n").trim()
    .replace(/\{@link (\w+)\}/g, "`$1`")
    .replace(/^@example\s*/gm, "Example:\n\n")
    .replace(/^@(\w+) /gm, "**$1** ");
}

/** Names of a type file's exports, as they are declared and as they are imported. */
function exportsOf(source: ts.SourceFile): { local: string; exported: string }[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return [];
    if (!ts.isNamedExports(statement.exportClause)) return [];
    return statement.exportClause.elements.map((element) => ({
      local: (element.propertyName ?? element.name).text,
      exported: element.name.text,
    }));
  });
}

function declarationsOf(source: ts.SourceFile): Map<string, Named[]> {
  const found = new Map<string, Named[]>();
  const add = (name: string, node: Named): void => {
    found.set(name, [...found.get(name) ?? [], node]);
  };
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) {
        add(name.getText(), statement);
      }
    } else {
      const { name } = statement as Named;
      if (name !== undefined) add(name.text, statement);
    }
  }
  return found;
}

function symbolOf(name: string, nodes: readonly Named[], isOfTask: boolean): Symbol {
  const text = nodes[0]!.getSourceFile().text;
  const comment = ts.getLeadingCommentRanges(text, nodes[0]!.getFullStart())?.at(-1);
  const doc = comment === undefined ? "" : text.slice(comment.pos, comment.end);
  const code = nodes.map((node) => node.getText()).join("\n").replaceAll("declare ", "");
  return {
    name,
    doc: doc.startsWith("/**") ? proseOf(doc) : "",
    code,
    isOfTask,
    isError: /class \w+ extends (Heddle)?Error\b/.test(code),
  };
}

function readSymbols(root: string): Symbol[] {
  const folder = join(root, "dist");
  const files = readdirSync(folder).filter((name) => name.endsWith(".d.ts"));
  const sources = files.map((name) =>
    ts.createSourceFile(name, readFileSync(join(folder, name), "utf8"), 99, true)
  );
  const task = sources.find(({ fileName }) => fileName === "task.d.ts")!;
  const ofTask = new Set(exportsOf(task).map(({ exported }) => exported));
  const names = new Set(
    sources.filter((source) => source !== task)
      .flatMap(exportsOf).map(({ local }) => local),
  );
  const symbols = sources.flatMap((source) =>
    [...declarationsOf(source)].filter(([name]) => names.has(name))
      .map(([name, nodes]) => symbolOf(name, nodes, ofTask.has(name)))
  );
  return symbols.sort((a, b) => a.name.localeCompare(b.name));
}

const section = ({ name, doc, code }: Symbol): string =>
  `### ${name}\n\n${doc}\n\n\`\`\`ts\n${code}\n\`\`\``;

/** The page as Markdown. */
export function apiReference(root: string): string {
  const symbols = readSymbols(root);
  const pools = symbols.filter(({ isOfTask, isError }) => !isOfTask && !isError);
  const tasks = symbols.filter(({ isOfTask }) => isOfTask);
  const errors = symbols.filter(({ isError }) => isError);
  return `# API

Every export of the package, with its declaration. The text comes from the doc comments of the sources.

## heddle

${pools.map(section).join("\n\n")}

## heddle and heddle/task

Modules of tasks import these from \`heddle/task\`, which loads faster.

${tasks.map(section).join("\n\n")}

## Errors

[Errors](/errors.md) has the causes and fixes of each.

${errors.map(section).join("\n\n")}
`;
}
