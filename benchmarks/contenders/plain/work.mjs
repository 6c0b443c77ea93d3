/** Tasks that take a while, for every library and for a worker by hand. */
import { readFileSync } from "node:fs";

/** Computes for so many milliseconds by the clock, whatever else the machine does. */
export const spin = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
};

/** The length of the page that a Markdown file becomes. Loads the parser at its first call. */
export const toHtml = async (path) => {
  const { marked } = await import("marked");
  return marked.parse(readFileSync(path, "utf8")).length;
};
