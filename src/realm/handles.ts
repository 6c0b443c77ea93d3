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
  /** Of what counts where it is: an end of a channel. */
  readonly departure?: Departure;
}

/** Something on its way to another thread, which counts as there until it has arrived, or `end` says that it never will. */
export interface Departure {
  /** For certain: it counts no more. */
  readonly hasArrived: boolean;
  /** Closes the end that is sent: this thread had got it only to pass it on. Before `carry`. */
  closeOrigin(): void;
  /** A call carries it. `isRepeated`: it may arrive more than once, so that it is on its way until the call is over. */
  carry(isRepeated: boolean): void;
  /** The call that carries it is over, or it was not sent at all. */
  end(): void;
}

/** What `heddle/shared` does for the others. */
export interface HandleSupport {
  /** The handle of a buffer that has arrived. */
  make(kind: string, buffer: SharedArrayBuffer): object;
  /** What structured clone may copy of a value with handles (`worker.data`), and the way back. */
  pack(value: unknown): unknown;
  unpack(value: unknown): unknown;
}

const KEY = Symbol.for("heddle.handles");

/** Undefined: this thread has not loaded `heddle/shared`. */
export function handleSupport(): HandleSupport | undefined {
  return (globalThis as { [KEY]?: HandleSupport })[KEY];
}

export function setHandleSupport(support: HandleSupport): void {
  if (handleSupport() === undefined) Object.defineProperty(globalThis, KEY, { value: support });
}

/** Key of `worker.data` that has handles, in place of itself. */
export const PACKED = "heddle.handles";
