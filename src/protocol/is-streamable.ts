/** Which objects are sent item by item. */

import { HANDLE } from "../realm/handles.ts";

/** Whether it has an iterator, as streams among arguments and results do. Runs getters of the value; one that throws is none. */
export function isStreamable(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  try {
    const { [Symbol.asyncIterator]: open, [Symbol.iterator]: iterate, next } = value as {
      [Symbol.asyncIterator]?: unknown;
      [Symbol.iterator]?: unknown;
      next?: unknown;
    };
    const streams = typeof open === "function" ||
      (typeof next === "function" && typeof iterate === "function");
    return streams && !Object.hasOwn(value, HANDLE); // the receiver of a channel is sent itself
  } catch {
    return false; // it cannot be sent in any way, and the error of encoding it says why
  }
}
