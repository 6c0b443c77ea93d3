/** The parts of Knitting that threads have no use for: each says what to use instead. */

/** Code of Knitting's that heddle has no equivalent for. */
export class UnsupportedError extends Error {
  readonly code = "HEDDLE_KNITTING_UNSUPPORTED";

  static {
    Object.defineProperty(this.prototype, "name", { value: "UnsupportedError" });
  }
}

const REFERENCE =
  "BufferReference is not part of @heddle/knitting: pass the ArrayBuffer or typed " +
  "array itself, or share a SharedArrayBuffer; `transfer` and `borrow` of heddle avoid copies.";
const SHARED = "ProcessSharedBuffer is not part of @heddle/knitting, whose workers are threads: " +
  "pass a SharedArrayBuffer, which they share.";
const MAIN_LOOP =
  "@heddle/knitting has no workerMainLoop(): createPool() starts its workers itself.";
const COMPILED = "@heddle/knitting has no compiled workers: use task() or importTask() in threads.";

/** A function that always throws {@link UnsupportedError}. */
export type UnsupportedFunction = (..._args: readonly unknown[]) => never;

const refuse = (message: string): never => {
  throw new UnsupportedError(message);
};

/** Not supported: the constructor throws {@link UnsupportedError}. Pass the buffer itself instead. */
export class BufferReference {
  /** Type only: no instance exists. */
  declare readonly toArrayBuffer: () => ArrayBuffer;
  /** Type only: no instance exists. */
  declare readonly toUint8Array: () => Uint8Array;
  /** Type only: no instance exists. */
  declare readonly release: () => void;
  /** Type only: no instance exists. */
  declare readonly [Symbol.dispose]: () => void;

  /** Throws {@link UnsupportedError}. */
  constructor(_source: ArrayBuffer | ArrayBufferView) {
    refuse(REFERENCE);
  }
}

/** Not supported: every way to create one throws {@link UnsupportedError}. Pass a SharedArrayBuffer instead. */
export class ProcessSharedBuffer {
  /** Throws {@link UnsupportedError}. */
  static readonly create: UnsupportedFunction = () => refuse(SHARED);
  /** Throws {@link UnsupportedError}. */
  static readonly fromMapping: UnsupportedFunction = () => refuse(SHARED);
  /** Type only: no instance exists. */
  declare readonly byteLength: number;
  /** Type only: no instance exists. */
  declare readonly view: <T>(type: new (buffer: SharedArrayBuffer) => T) => T;
  /** Type only: no instance exists. */
  declare readonly subbuffer: (from: number, byteLength: number) => ProcessSharedBuffer;

  /** Throws {@link UnsupportedError}. */
  constructor() {
    refuse(SHARED);
  }
}

/** Throws {@link UnsupportedError}: there are no compiled workers. */
export const checkCompiledWorker: UnsupportedFunction = (): never => refuse(COMPILED);
/** Throws {@link UnsupportedError}: `createPool` starts its workers itself. */
export const workerMainLoop: UnsupportedFunction = (): never => refuse(MAIN_LOOP);
