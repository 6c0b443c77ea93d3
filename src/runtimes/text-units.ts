/** Writing strings unit by unit, where a runtime has nothing faster. */
import type { SharedBytes } from "./runtime.ts";

/** Writes the units of `text`, one byte each. Returns all of them, or-ed: more than 0xff if one did not fit. */
export function writeUnits(text: string, target: SharedBytes, start: number): number {
  const { length } = text;
  let seen = 0;
  for (let unit = 0; unit < length; unit++) {
    const code = text.charCodeAt(unit);
    seen |= code;
    target[start + unit] = code;
  }
  return seen;
}
