/**
 * The links of Markdown files, and whether their targets exist. A link is relative, or names a file of this repository
 * by its address on GitHub; other addresses are not looked at. Pages of `docs/` link to each other relatively, and to what
 * the package lacks (benchmarks, internals, examples, sources, charts) by address; the site has its own pages for these.
 */
import { posix } from "node:path";
import { slugify } from "../../docs/.vitepress/navigation.ts";

/** A place that shows Markdown files: the repository, or the package. */
export interface Place {
  readonly files: ReadonlySet<string>;
  read(file: string): string;
}

const ON_GITHUB =
  /^https:\/\/(?:github\.com\/heddle-js\/heddle\/(blob|tree)|raw\.githubusercontent\.com\/heddle-js\/heddle)\/main\//;

const withoutCode = (text: string): string =>
  text.replace(/^( *)```[^]*?^\1```$/gm, "").replace(/<!--[^]*?-->/g, "")
    .replace(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, "");

/** Of links, images and HTML elements. */
export const linksIn = (text: string): string[] =>
  [
    ...withoutCode(text).matchAll(
      /\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)$| (?:href|src|srcset)="([^"]+)"/gm,
    ),
  ].map(([, inline, reference, html]) => (inline ?? reference ?? html)!);

/** The anchors of a file's headings; a repeated heading gets a number. */
export function anchorsIn(text: string): Set<string> {
  const counts = new Map<string, number>();
  const headings = text.replace(/^( *)```[^]*?^\1```$/gm, "").matchAll(/^#{1,6} (.+)$/gm);
  return new Set([...headings].map(([, heading = ""]) => {
    const anchor = slugify(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }));
}

/** What is wrong with a target; undefined if nothing. */
function problemOf({ files, read }: Place, target: string, anchor: string): string | undefined {
  const isFolder = target === "." || [...files].some((file) => file.startsWith(`${target}/`));
  if (!files.has(target) && !isFolder) return "there is no such file";
  if (anchor === "" || !target.endsWith(".md")) return undefined;
  return anchorsIn(read(target)).has(anchor) ? undefined : "there is no such heading";
}

/** Dead links of a file, each with what is wrong. Relative links lead to `place`, addresses to `repository`. */
export function deadLinks(file: string, place: Place, repository: Place): string[] {
  return linksIn(place.read(file)).flatMap((link) => {
    const isOnGitHub = ON_GITHUB.test(link);
    if (!isOnGitHub && /^[a-z]+:/.test(link)) return [];
    const [path = "", anchor = ""] = link.replace(ON_GITHUB, "").split("#");
    const folder = isOnGitHub ? "" : posix.dirname(file);
    const target = !isOnGitHub && path === ""
      ? file
      : posix.normalize(posix.join(folder, path)).replace(/\/$/, "");
    const problem = problemOf(isOnGitHub ? repository : place, target, anchor);
    return problem === undefined ? [] : [`${link}: ${problem}`];
  });
}
