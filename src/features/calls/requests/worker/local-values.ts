/** Values of calls that stay in this thread: cloned, as calls do. */
import { isError } from "../../../../codec/kinds/errors.ts";
import type { DeclaredValues } from "../../../../codec/declared.ts";
import { DataCloneError } from "../../../../errors.ts";
import { RESULT_NAME } from "../../../../lane/snapshot.ts";
import { StandaloneValues } from "../../../../lane/standalone-values.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

export class LocalValues {
  readonly #values: StandaloneValues;

  constructor(core: WorkerCore) {
    this.#values = new StandaloneValues(core.codec);
  }

  /** Throws DataCloneError, which names the values by `name`. */
  clone(values: readonly unknown[], name: string, declared?: DeclaredValues): unknown[] {
    const snapshot = this.#values.snapshots.capture(values, name, declared);
    const { decoder } = this.#values.reader;
    decoder.declared = declared;
    try {
      return this.#values.reader.read(snapshot);
    } finally {
      decoder.declared = undefined;
    }
  }

  /** What a call has thrown, or why that cannot be cloned. */
  cloneError(error: unknown): unknown {
    try {
      const snapshot = isError(error)
        ? this.#values.snapshots.captureError(error)
        : this.#values.snapshots.capture([error], RESULT_NAME);
      return this.#values.reader.read(snapshot)[0];
    } catch (refusal) {
      return refusal instanceof DataCloneError ? refusal : error;
    }
  }
}

/** Those of a worker (`WorkerCore.part`). */
export function localValues(core: WorkerCore): LocalValues {
  return new LocalValues(core);
}
