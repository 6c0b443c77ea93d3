/**
 * The options in the docs: read from the doc comments of the sources and written between the marks of `docs/options.md`.
 * `node scripts/docs-options.ts` updates the file; a test fails if it is not current.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "docs", "options.md");
const DOCS = "https://github.com/heddle-js/heddle/blob/main/docs/";

export interface Option {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** One paragraph. */
  readonly text: string;
  /** Undefined: the doc comment names none. */
  readonly default: string | undefined;
  /** Links to pages, as Markdown. */
  readonly see: readonly string[];
}

/** The exported interfaces of options in `src`, each with its own members. */
export function readOptions(): Map<string, readonly Option[]> {
  const found = new Map<string, readonly Option[]>();
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const text = readFileSync(join(root, "src", file), "utf8");
    if (!text.includes("export interface ")) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const node of source.statements) {
      if (!ts.isInterfaceDeclaration(node)) continue;
      found.set(node.name.text, node.members.filter(ts.isPropertySignature).map(readOption));
    }
  }
  return found;
}

function readOption(member: ts.PropertySignature): Option {
  const tags = new Map<string, string[]>();
  for (const tag of ts.getJSDocTags(member)) {
    // TypeScript reads the text of `@see [a](b)` as a name and a comment.
    const text = tag.getText().replace(/^@\w+\s*/, "").replaceAll(/\s*\n\s*\*\s*/g, " ").trim();
    tags.set(tag.tagName.text, [...tags.get(tag.tagName.text) ?? [], text]);
  }
  return {
    name: member.name.getText(),
    type: member.type?.getText().replaceAll(/\s+/g, " ").replace(/^\| /, "") ?? "unknown",
    isRequired: member.questionToken === undefined,
    text: proseOf(member),
    default: tags.get("default")?.[0],
    see: tags.get("see") ?? [],
  };
}

function proseOf(member: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? "";
  return text.replaceAll(/\{@link (\w+)\}/g, "`$1`").replaceAll(/\s+/g, " ").trim();
}

/** Types of template literals have backticks. */
const codeOf = (type: string): string => type.includes("`") ? `\`\` ${type} \`\`` : `\`${type}\``;

/** An option as a section of its own, so that it can be linked to. */
function sectionOf({ name, type, isRequired, text, default: fallback, see }: Option): string {
  const given = fallback === undefined ? isRequired ? "required" : "" : `default: ${fallback}`;
  const links = see.map((link) => link.replace(DOCS, ""));
  const more = links.length === 0 ? "" : ` See ${links.join(", ")}.`;
  return `#### ${name}\n\n${codeOf(type)}${given && ` – ${given}`}\n\n${text}${more}\n`;
}

const MARK = /<!-- options of (\w+): ([^>]*?) -->\n[\s\S]*?<!-- end -->/g;

/** The names that the page has, by interface. */
export function listedOptions(markdown: string): Map<string, readonly string[]> {
  const listed = new Map<string, string[]>();
  for (const [, type, names] of markdown.matchAll(MARK)) {
    listed.set(type!, [...listed.get(type!) ?? [], ...names!.split(/\s+/)]);
  }
  return listed;
}

/** The page with its sections as the sources have them. Throws for a name that they do not have. */
export function withOptions(markdown: string): string {
  const all = readOptions();
  return markdown.replace(MARK, (_, type: string, names: string) => {
    const sections = names.split(/\s+/).map((name) => {
      const option = all.get(type)?.find((option) => option.name === name);
      if (option === undefined) throw new Error(`${type} has no option ${name}.`);
      return sectionOf(option);
    });
    return `<!-- options of ${type}: ${names} -->\n\n${sections.join("\n")}\n<!-- end -->`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, withOptions(readFileSync(page, "utf8")));
}
