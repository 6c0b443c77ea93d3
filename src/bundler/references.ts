/** The references that the plugins of bundlers replace. The rest of a source stays as it is. */
import { InvalidArgumentError } from "../errors.ts";

/** A reference with the query `?pool`; or a comment, a text or a regular expression, in which there is none. */
const TOKENS =
  /\bnew\s+URL\(\s*(["'`])([^"'`\n]+)\?pool\1\s*,\s*import\.meta\.url\s*,?\s*\)|\bimport\.meta\.resolve\(\s*(["'`])([^"'`\n]+)\?pool\3\s*,?\s*\)|\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`|(?<=(?:^|[=(,:;!&|?{}[\n]|\b(?:return|typeof|case|in|of|void|delete|throw|do|else|await|yield))\s*)\/(?:[^\\/\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;

/**
 * `code` with what `toUrl` returns, an expression whose value is a URL as a string, in the place of each reference. Lines keep
 * their numbers. Undefined: the code has no reference.
 */
export async function replaceReferences(
  code: string,
  toUrl: (specifier: string, at: number) => string | Promise<string>,
): Promise<string | undefined> {
  if (!code.includes("?pool")) return undefined;
  let replaced = "";
  let end = 0;
  for (const { 0: text, 2: path, 4: name, index } of code.matchAll(TOKENS)) {
    if (path === undefined && name === undefined) continue;
    const url = await toUrl(name ?? path!.replace(/^(?!\.)/, "./"), index);
    replaced += code.slice(end, index) + (name === undefined ? `new URL(${url})` : url) +
      text.replace(/[^\n]/g, "");
    end = index + text.length;
  }
  return end === 0 ? undefined : replaced + code.slice(end);
}

/** The build fails: without this, the first call would. */
export function notFound(specifier: string, importer: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `The module of tasks "${specifier}" is not found from ${importer}.`,
  );
}
