/** What the linter finds fault with. A rule gets the text of a file and its tokens, and yields problems. */
import type { Token } from "./tokenizer.ts";

export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  /** Errors make the program end with the exit code 1, warnings do not. */
  readonly severity: "error" | "warning";
  readonly message: string;
}

export interface Source {
  readonly text: string;
  /** All tokens. */
  readonly tokens: readonly Token[];
  /** Those that are no comments. */
  readonly code: readonly Token[];
}

type Found = Omit<Problem, "rule" | "severity">;

interface Rule {
  readonly severity: Problem["severity"];
  check(source: Source): Iterable<Found>;
}

const MAX_LINE = 160;
const MAX_BRANCHES = 20;
const MIN_SAME_LINES = 8;

const at = ({ line, column }: Token, message: string): Found => ({ line, column, message });

function* findTokens(
  tokens: readonly Token[],
  isFault: (token: Token, index: number) => boolean,
  message: (token: Token) => string,
): Generator<Found> {
  for (const [index, token] of tokens.entries()) {
    if (isFault(token, index)) yield at(token, message(token));
  }
}

function* findLongLines({ text }: Source): Generator<Found> {
  for (const [index, { length }] of text.split("\n").entries()) {
    if (length <= MAX_LINE) continue;
    yield { line: index + 1, column: MAX_LINE + 1, message: `${length} characters in a line` };
  }
}

function* findEmptyBlocks({ tokens }: Source): Generator<Found> {
  for (let n = 2; n < tokens.length; n++) {
    const isBlock = tokens[n]!.text === "}" && tokens[n - 1]!.text === "{";
    // `() => {}` and `{}` as a value are common, an empty body of a statement is not.
    if (isBlock && /^(?:\)|else|try|finally|do)$/.test(tokens[n - 2]!.text)) {
      yield at(tokens[n - 1]!, "empty block");
    }
  }
}

/** Names that a file declares once and never mentions again. Without scopes, so it finds too few of them. */
function* findUnusedNames({ code, text }: Source): Generator<Found> {
  const counts = new Map<string, number>();
  for (const { kind, text: name } of code) {
    if (kind === "name") counts.set(name, (counts.get(name) ?? 0) + 1);
    if (kind !== "template") continue;
    for (const [part] of name.matchAll(/[\w$]+/g)) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  const isExported = (index: number): boolean =>
    [index - 1, index - 2].some((before) => code[before]?.text === "export");
  for (const [index, { text: keyword }] of code.entries()) {
    if (!/^(?:const|let|var|function|class)$/.test(keyword) || isExported(index)) continue;
    const name = code[index + 1];
    if (name?.kind !== "name" || name.text.startsWith("_") || counts.get(name.text) !== 1) continue;
    // A word in a comment or a string, such as a doc link, counts as a use.
    if (text.split(name.text).length > 2) continue;
    yield at(name, `'${name.text}' is never used`);
  }
}

/** Functions whose code branches too often. */
function* findComplexFunctions({ code }: Source): Generator<Found> {
  const open: { readonly start: Token; readonly depth: number; branches: number }[] = [];
  let depth = 0;
  let announced: Token | undefined;
  for (const token of code) {
    if (token.text === "function" || token.text === "=>") announced = token;
    if (token.text === "{") {
      depth++;
      if (announced !== undefined) open.push({ start: announced, depth, branches: 1 });
      announced = undefined;
    }
    const current = open.at(-1);
    if (current !== undefined && /^(?:if|for|while|case|catch|&&|\|\||\?\?|\?)$/.test(token.text)) {
      current.branches++;
    }
    if (token.text !== "}") continue;
    if (current?.depth === depth) {
      open.pop();
      if (current.branches > MAX_BRANCHES) {
        yield at(current.start, `${current.branches} branches in a function`);
      }
    }
    depth--;
  }
}

/** Blocks of lines that stand in the file twice. */
function* findSameLines({ text }: Source): Generator<Found> {
  const lines = text.split("\n").map((line) => line.trim());
  const seen = new Map<string, number>();
  let reportedTo = 0;
  for (let n = 0; n + MIN_SAME_LINES <= lines.length; n++) {
    const block = lines.slice(n, n + MIN_SAME_LINES).join("\n");
    const first = seen.get(block);
    if (first === undefined) seen.set(block, n);
    else if (n >= reportedTo && n >= first + MIN_SAME_LINES) {
      reportedTo = n + MIN_SAME_LINES;
      yield { line: n + 1, column: 1, message: `the same lines as from line ${first + 1} on` };
    }
  }
}

const RULES: Readonly<Record<string, Rule>> = {
  "no-debugger": {
    severity: "error",
    check: ({ code }) => findTokens(code, ({ text }) => text === "debugger", () => "debugger"),
  },
  "no-var": {
    severity: "error",
    check: ({ code }) =>
      findTokens(code, ({ text }) => text === "var", () => "var; use let or const"),
  },
  "no-loose-equality": {
    severity: "error",
    check: ({ code }) =>
      findTokens(
        code,
        // `== null` means null or undefined.
        ({ text }, index) => /^[=!]=$/.test(text) && code[index + 1]?.text !== "null",
        ({ text }) => `${text} converts its operands; use ${text}=`,
      ),
  },
  "no-todo": {
    severity: "warning",
    check: ({ tokens }) =>
      findTokens(
        tokens,
        ({ kind, text }) => kind === "comment" && /\b(?:TODO|FIXME)\b/.test(text),
        () => "something is left to do",
      ),
  },
  "max-line-length": { severity: "warning", check: findLongLines },
  "no-empty-block": { severity: "warning", check: findEmptyBlocks },
  "no-unused": { severity: "error", check: findUnusedNames },
  "max-branches": { severity: "warning", check: findComplexFunctions },
  "no-same-lines": { severity: "warning", check: findSameLines },
};

/** The problems that all rules find, in the order of the file. */
export function checkRules(text: string, tokens: readonly Token[]): Problem[] {
  const source = { text, tokens, code: tokens.filter(({ kind }) => kind !== "comment") };
  const problems = Object.entries(RULES).flatMap(([rule, { severity, check }]) =>
    [...check(source)].map((found): Problem => ({ ...found, rule, severity }))
  );
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}
