/**
 * Evaluated before all else in the browser's build (`scripts/browser/build.ts`), where `SharedArrayBuffer` below takes the place
 * of the global: pages that are not cross-origin isolated have none. There each thread has its own copy of what would be
 * shared (`features/workers/mirror/`).
 */

/** As much of the class as heddle uses. */
class OwnMemory extends ArrayBuffer {
  override get byteLength(): number {
    return super.byteLength;
  }

  get growable(): boolean {
    return false;
  }
}

const Memory: SharedArrayBufferConstructor =
  (globalThis as { SharedArrayBuffer?: SharedArrayBufferConstructor }).SharedArrayBuffer ??
    (OwnMemory as unknown as SharedArrayBufferConstructor);

export { Memory as SharedArrayBuffer };

// Firefox before 141 and Safari have none. Tools that compile `using` take these as well.
for (const name of ["dispose", "asyncDispose"] as const) {
  if (Symbol[name] !== undefined) continue;
  Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });
}
