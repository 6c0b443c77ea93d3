/** Versions of Node, and flags of the command line. */

/** The version of Node that runs, or that Deno and Bun are compatible with. */
export const NODE_VERSION: string = process.versions.node;

/** The numbers of a version. */
export const parseVersion = (version: string): number[] =>
  version.split(".").map(Number.parseFloat);

/** 1, 0 or -1: the first version is greater, equal or less. */
export function compareVersion(version1: string, version2: string): number {
  const [first, second] = [parseVersion(version1), parseVersion(version2)];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    const difference = (first[at] || 0) - (second[at] || 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

/** The same for the version of Node that runs. */
export const compareNodeVersion = (version: string): number =>
  compareVersion(NODE_VERSION, version);

/** The words of `NODE_OPTIONS`. Quotes keep spaces; a backslash between them takes the next character as it is. */
export const NODE_OPTIONS: string[] = (
  (process.env["NODE_OPTIONS"] ?? "").match(/(?:"(?:\\.|[^"\\])*"|[^ "])+/gs) ?? []
).map((word) =>
  word.replace(/"((?:\\.|[^"\\])*)"/gs, (_, text: string) => text.replace(/\\(.)/gs, "$1"))
);

/** Whether Node was started with a flag. */
export const hasFlag = (flag: string): boolean =>
  [...NODE_OPTIONS, ...process.execArgv].some((given) => given.split("=", 1)[0] === flag);
