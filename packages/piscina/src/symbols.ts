/** Piscina's symbols, and `move`. */

/** Key of what moves, in an object that can be moved. */
export const transferableSymbol: unique symbol = Symbol.for("Piscina.transferable") as never;
/** Key of the value that arrives in its place. */
export const valueSymbol: unique symbol = Symbol.for("Piscina.valueOf") as never;
/** Key of what a task tells the queue. */
export const queueOptionsSymbol: unique symbol = Symbol.for("Piscina.queueOptions") as never;
/** Marks what `move` has returned. */
const MOVED: unique symbol = Symbol.for("heddle.piscina.moved") as never;

/** An object that says how it is moved. */
export interface Transferable {
  /** What moves: one object, or an array of them. */
  readonly [transferableSymbol]: object;
  /** What arrives. */
  readonly [valueSymbol]: object;
}

function isTransferable(value: unknown): value is Transferable {
  return typeof value === "object" && value !== null && transferableSymbol in value &&
    valueSymbol in value;
}

/** Whether `move` has returned it. */
export function isMoved(value: unknown): value is Transferable {
  return isTransferable(value) && (value as { readonly [MOVED]?: true })[MOVED] === true;
}

/**
 * Marks a value so that it moves when it is the argument or the result of a task: an `ArrayBuffer`, a view of one, a
 * `MessagePort`, or an object with `transferableSymbol` and `valueSymbol`. Other values come back as they are.
 */
export function move<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  const moved: object = isTransferable(value) ? value : {
    [transferableSymbol]: ArrayBuffer.isView(value) ? value.buffer : value,
    [valueSymbol]: value,
  };
  Object.defineProperty(moved, MOVED, { configurable: true, writable: true, value: true });
  return moved as Value;
}

/** What moves with it: one object, or several. */
export function listOf({ [transferableSymbol]: moving }: Transferable): readonly unknown[] {
  return Array.isArray(moving) ? moving : [moving];
}
