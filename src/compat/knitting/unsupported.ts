/** The parts of Knitting that threads have no use for: each says what to use instead. */
import { HeddleError } from "../../mod.ts";

/** Code of Knitting's that heddle has no equivalent for. */
export class UnsupportedError extends HeddleError {
  constructor(message: string) {
    super("HEDDLE_KNITTING_UNSUPPORTED", message);
  }

  static {
    Object.defineProperty(this.prototype, "name", { value: "UnsupportedError" });
  }
}

const REFERENCE = "BufferReference is not part of heddle/knitting: pass the ArrayBuffer or typed " +
  "array itself, or share a SharedArrayBuffer; `transfer` and `borrow` of heddle avoid copies.";
const SHARED = "ProcessSharedBuffer is not part of heddle/knitting, whose workers are threads: " +
  "pass a SharedArrayBuffer, which they share.";
const COMPILED = "heddle/knitting has no compiled workers: use task() or importTask() in threads.";

/** Refused: see the message of its error. */
export class BufferReference {
  declare readonly byteLength: number;
  declare readonly toArrayBuffer: () => ArrayBuffer;
  declare readonly toUint8Array: () => Uint8Array;
  declare readonly release: () => void;
  declare readonly [Symbol.dispose]: () => void;

  constructor(_source: ArrayBuffer | ArrayBufferView) {
    throw new UnsupportedError(REFERENCE);
  }
}

/** Refused: see the message of its error. */
export class ProcessSharedBuffer {
  declare readonly byteLength: number;
  declare readonly view: <T>(type: new (buffer: SharedArrayBuffer) => T) => T;
  declare readonly bytes: () => Uint8Array;
  declare readonly subbuffer: (from: number, byteLength: number) => ProcessSharedBuffer;

  constructor(..._args: readonly unknown[]) {
    throw new UnsupportedError(SHARED);
  }

  static create(..._args: readonly unknown[]): ProcessSharedBuffer {
    throw new UnsupportedError(SHARED);
  }

  static fromMapping(..._args: readonly unknown[]): ProcessSharedBuffer {
    throw new UnsupportedError(SHARED);
  }
}

/** Refused: see the message of its error. */
export function checkCompiledWorker(..._args: readonly unknown[]): never {
  throw new UnsupportedError(COMPILED);
}

/** Refused: see the message of its error. */
export function workerMainLoop(..._args: readonly unknown[]): never {
  throw new UnsupportedError(
    "heddle/knitting has no workerMainLoop(): createPool() starts its workers itself.",
  );
}
