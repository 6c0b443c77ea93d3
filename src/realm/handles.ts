/**
 * The agreement between the codec and `heddle/shared`: an object with the key HANDLE is sent as what that property holds, and
 * arrives as what the function on `globalThis` makes of it. Neither loads the other, in whichever copies they are.
 */

/** Key of an object that stands for shared memory. */
export const HANDLE: unique symbol = Symbol.for("heddle.handle");

/** What is sent of it. */
export interface HandleParts {
  readonly kind: string;
  readonly buffer: SharedArrayBuffer;
}

export type HandleMaker = (kind: string, buffer: SharedArrayBuffer) => object;

const KEY = Symbol.for("heddle.handles");

export function handleMaker(): HandleMaker | undefined {
  return (globalThis as { [KEY]?: HandleMaker })[KEY];
}

export function setHandleMaker(make: HandleMaker): void {
  if (handleMaker() === undefined) Object.defineProperty(globalThis, KEY, { value: make });
}
