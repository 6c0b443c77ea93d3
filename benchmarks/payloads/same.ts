/** Whether what arrived is what was sent: deep equality, with the parts of an error that travel. */
import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";

export function isSame(sent: unknown, got: unknown): boolean {
  if (sent instanceof Error) {
    return got instanceof Error && sent.name === got.name && sent.message === got.message &&
      isSame(sent.cause, got.cause);
  }
  if (sent instanceof ArrayBuffer) {
    return got instanceof ArrayBuffer && areSameBytes(new Uint8Array(sent), new Uint8Array(got));
  }
  // Structured clone makes a Buffer a Uint8Array: it is measured all the same.
  if (sent instanceof Uint8Array) return got instanceof Uint8Array && areSameBytes(sent, got);
  return isDeepStrictEqual(sent, got);
}

const areSameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Throws unless the two are the same. */
export function assertSame(sent: unknown, got: unknown): void {
  if (!isSame(sent, got)) throw new Error(`the answer is not what was sent: ${describe(got)}`);
}

function describe(value: unknown): string {
  const type = typeof value;
  if (type !== "object" || value === null) return `${type} ${String(value).slice(0, 40)}`;
  return Object.getPrototypeOf(value)?.constructor?.name ?? "an object";
}
