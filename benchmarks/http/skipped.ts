/** Thrown where a tool is missing: the figure is left out on purpose. */
export class Skipped extends Error {}
