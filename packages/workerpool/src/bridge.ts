/**
 * Where `worker()` and `workerEmit()` of a script meet the worker that runs it. The script loads its own copy of this package,
 * so both sides know each other by keys of the global registry of symbols.
 */
import type { Any, AnyFunction, WorkerRegisterOptions } from "./types.ts";

const BRIDGE: unique symbol = Symbol.for("heddle.workerpool.bridge") as never;
const TRANSFER: unique symbol = Symbol.for("heddle.workerpool.transfer") as never;

/** What a worker offers to its script. */
export interface Bridge {
  /** Makes functions callable, and the worker ready. */
  register(
    methods: Readonly<Record<string, AnyFunction>> | undefined,
    options: WorkerRegisterOptions | undefined,
  ): void;
  /** Sends a value to the `on` of the task that runs. */
  emit(payload: unknown): void;
}

/** The bridge of this thread; undefined outside workers. */
export const bridge = (): Bridge | undefined =>
  (globalThis as { readonly [BRIDGE]?: Bridge })[BRIDGE];

/** Makes this thread a worker. */
export function setBridge(value: Bridge): void {
  Object.defineProperty(globalThis, BRIDGE, { value });
}

/** A result or an event that is moved to the host, with what it consists of. */
export class Transfer {
  /** The value. */
  message: Any;
  /** What is moved out of it. */
  transfer: readonly Any[];

  /** Creates it. */
  constructor(message: Any, transfer: readonly Any[]) {
    this.message = message;
    this.transfer = transfer;
  }
}
// Tells those of any copy of this package.
Object.defineProperty(Transfer.prototype, TRANSFER, { value: true });

/** Whether a value is a `Transfer`, of whichever copy of this package. */
export const isTransfer = (value: unknown): value is Transfer =>
  typeof value === "object" && value !== null && TRANSFER in value;
