/**
 * The code blocks of the documentation. A `ts` or `js` block whose first line is `// name.ts` is a file; others are
 * fragments. Files of one page form a program; a file of the same name begins the next program of the page.
 *
 * A comment before a block says what the reader need not see:
 *   <!-- context: declare const x: number; -->   declarations that the block is checked with
 *   <!-- output of main.ts -->                   the block is what that file prints
 *   <!-- unchecked: reason -->                   the block is not checked
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

export interface Block {
  readonly page: string;
  /** Of its first line of code. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The name of the file, if the block is one. */
  readonly file: string | undefined;
  /** Number of the program within the page. */
  readonly program: number;
  readonly context: string;
  readonly unchecked: string | undefined;
  /** The file whose output the block is. */
  readonly outputOf: string | undefined;
}

const FENCE = /(?:<!-- ((?:(?!-->)[^])*?) -->\n+)?^( *)```(\w*)\n([^]*?)^\2```$/gm;

const directive = (comment: string, name: string): string | undefined =>
  comment.startsWith(name) ? comment.slice(name.length).trim() : undefined;

export function blocksIn(page: string, text: string): Block[] {
  let program = 0;
  let names = new Set<string>();
  return [...text.matchAll(FENCE)].map((match) => {
    const [all, comment = "", indent = "", language = "", code = ""] = match;
    const own = code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const [, file] = /^\/\/ ([\w./-]+\.(?:ts|js|mjs|cjs|tsx))\b/.exec(own) ?? [];
    if (file !== undefined && names.has(file)) {
      program++;
      names = new Set();
    }
    if (file !== undefined) names.add(file);
    const before = text.slice(0, match.index + all.indexOf("```"));
    return {
      page,
      line: before.split("\n").length + 1,
      language,
      code: own,
      file,
      program,
      context: directive(comment, "context:") ?? "",
      unchecked: directive(comment, "unchecked:"),
      outputOf: directive(comment, "output of "),
    };
  });
}

/** README and every page of the docs. */
export const PAGES: readonly string[] = [
  "README.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith(".vitepress"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`),
].sort();

export const readPage = (page: string): string => readFileSync(new URL(page, root), "utf8");

export const existsInProject = (path: string): boolean => existsSync(new URL(path, root));
