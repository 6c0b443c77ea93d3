/** The parts of Knitting that threads have no use for: each says what to use instead. */
import { HeddleError } from "../../mod-core.ts";

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
const MAIN_LOOP =
  "heddle/knitting has no workerMainLoop(): createPool() starts its workers itself.";
const COMPILED = "heddle/knitting has no compiled workers: use task() or importTask() in threads.";

type Refuse = (..._args: readonly unknown[]) => never;

const refuse = (message: string): never => {
  throw new UnsupportedError(message);
};

/** Refused: see the message of its error. So are the others here. */
export class BufferReference {
  declare readonly toArrayBuffer: () => ArrayBuffer;
  declare readonly toUint8Array: () => Uint8Array;
  declare readonly release: () => void;
  declare readonly [Symbol.dispose]: () => void;

  constructor(_source: ArrayBuffer | ArrayBufferView) {
    refuse(REFERENCE);
  }
}

export class ProcessSharedBuffer {
  static readonly create: Refuse = () => refuse(SHARED);
  static readonly fromMapping: Refuse = () => refuse(SHARED);
  declare readonly byteLength: number;
  declare readonly view: <T>(type: new (buffer: SharedArrayBuffer) => T) => T;
  declare readonly subbuffer: (from: number, byteLength: number) => ProcessSharedBuffer;

  constructor() {
    refuse(SHARED);
  }
}

export const checkCompiledWorker: Refuse = () => refuse(COMPILED);
export const workerMainLoop: Refuse = () => refuse(MAIN_LOOP);
