/** In a browser: as much of `node:util` as the suite uses. */
import { objectKinds } from "../../src/runtimes/browser/kinds.ts";

const isBoxed = (prototype: { valueOf(): unknown }) => (value: object): boolean => {
  try {
    prototype.valueOf.call(value);
    return typeof value === "object";
  } catch {
    return false;
  }
};

export const types = {
  ...objectKinds,
  isNumberObject: isBoxed(Number.prototype),
  isStringObject: isBoxed(String.prototype),
  isBooleanObject: isBoxed(Boolean.prototype),
  isBigIntObject: isBoxed(BigInt.prototype),
  isAnyArrayBuffer: (value: object): boolean =>
    objectKinds.isArrayBuffer(value) || objectKinds.isSharedArrayBuffer(value),
};
export const inspect = String;
export const format = (...parts: unknown[]): string => parts.map(String).join(" ");
