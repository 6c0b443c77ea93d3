/** Splits JavaScript and TypeScript into tokens. It knows no grammar, which the rules here do without. */

export type TokenKind =
  | "name"
  | "keyword"
  | "number"
  | "string"
  | "template"
  | "regex"
  | "punctuator"
  | "comment";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

const KEYWORDS: ReadonlySet<string> = new Set(
  ("break case catch class const continue debugger default delete do else export extends false " +
    "finally for function if import in instanceof let new null return super switch this throw " +
    "true try typeof var void while yield").split(" "),
);

const NAME = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d+)?)n?/iy;
const STRING = /"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const COMMENT = /\/\/.*|\/\*[^]*?(?:\*\/|$)/y;
const PUNCTUATOR =
  /\.\.\.|=>|>>>=|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|[=!]==?|\?\.(?!\d)|\?\?|&&|\|\||\+\+|--|\*\*|<<|[-+*/%&|^<>]=?|[^\s]/uy;
const SPACE = /\s+/y;

/** After these a slash divides; after all others it begins a regular expression. */
const endsValue = (token: Token | undefined): boolean =>
  token !== undefined && (/^(?:name|number|string|template|regex)$/.test(token.kind) ||
    /^(?:\)|\]|\}|this|super|null|true|false)$/.test(token.text));

/** The end of the template that begins at `start`: the strings and templates in its `${}` may hold braces. */
function endOfTemplate(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== "`") {
    if (text[at] === "\\") at += 2;
    else if (text.startsWith("${", at)) at = endOfBraces(text, at + 1);
    else at++;
  }
  return at + 1;
}

function endOfBraces(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at + 1;
    else if (text[at] === "`") at = endOfTemplate(text, at) - 1;
  }
  return text.length;
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function read(text: string, at: number, before: Token | undefined): [TokenKind, number] {
  const first = text[at]!;
  if (first === "`") return ["template", endOfTemplate(text, at)];
  if (first === '"' || first === "'") return ["string", match(STRING, text, at)];
  if (first === "/") {
    const comment = match(COMMENT, text, at);
    if (comment > 0) return ["comment", comment];
    const regex = endsValue(before) ? -1 : match(REGEX, text, at);
    if (regex > 0) return ["regex", regex];
  }
  const name = match(NAME, text, at);
  if (name > 0) return [KEYWORDS.has(text.slice(at, name)) ? "keyword" : "name", name];
  if (/[\d.]/.test(first)) {
    const number = match(NUMBER, text, at);
    if (number > 0) return ["number", number];
  }
  return ["punctuator", match(PUNCTUATOR, text, at)];
}

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let before: Token | undefined; // comments do not count
  let line = 1;
  let lineStart = 0;
  /** Lines that end between the two places. */
  const passLines = (from: number, to: number): void => {
    for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) {
      line++;
      lineStart = at + 1;
    }
  };
  for (let at = 0; at < text.length;) {
    const space = match(SPACE, text, at);
    if (space > 0) {
      passLines(at, space);
      at = space;
      continue;
    }
    const [kind, end] = read(text, at, before);
    const token = { kind, text: text.slice(at, end), line, column: at - lineStart + 1 };
    tokens.push(token);
    if (kind !== "comment") before = token;
    passLines(at, end);
    at = end;
  }
  return tokens;
}
