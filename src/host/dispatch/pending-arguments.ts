/**
 * Arguments of a call that include promises: the promises are awaited, the others are encoded when the call is
 * made.
 */
import { Promise } from "../../builtins.ts";
import { withContext } from "../calls/with-context.ts";
import type { DeclaredValues } from "../../codec/declared.ts";
import { ARGUMENTS, type Snapshot, type SnapshotEncoder } from "../../lane/snapshot.ts";
import type { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { dropArguments } from "../calls/feature.ts";

const promiseThen: (
  this: Promise<unknown>,
  onValue: undefined,
  onReason: () => void,
) => unknown = Promise.prototype.then;

type IsPromise = (value: unknown) => value is Promise<unknown>;

export class PendingArguments {
  /** The values of the promises, in order. */
  readonly #settled: Promise<unknown[]>;
  readonly #positions: readonly number[];
  /** The other arguments. Undefined: the call is over. A promise that never settles must not retain them. */
  #others: Snapshot | undefined;
  readonly #snapshots: SnapshotEncoder;
  readonly #declared: DeclaredValues | undefined;

  /** Throws the error of encoding the other arguments. */
  constructor(
    args: readonly unknown[],
    isPromise: IsPromise,
    snapshots: SnapshotEncoder,
    declared: DeclaredValues | undefined,
  ) {
    this.#snapshots = snapshots;
    this.#declared = declared;
    const isPending = args.map((value) => isPromise(value));
    this.#positions = [...isPending.keys()].filter((position) => isPending[position]);
    this.#settled = Promise.all(this.#positions.map((position) => args[position]));
    // Attached before anything may throw: a rejection after the call is over must count as handled.
    this.#settled.catch(() => {});
    this.#others = snapshots.capture(args, ARGUMENTS, declared, isPending);
  }

  /**
   * Calls back once: with all arguments when the promises are fulfilled, at once if there are none, or with the reason of the
   * failure. Never after the call is over.
   */
  whenKnown(onKnown: (snapshot: Snapshot) => void, onFailed: (reason: unknown) => void): void {
    if (this.#positions.length === 0) {
      this.#complete([], onKnown, onFailed); // the host may be blocking, so that no promise calls back
      return;
    }
    this.#settled.then(
      (settled) => this.#complete(settled, onKnown, onFailed),
      (reason: unknown) => {
        if (this.#others !== undefined) onFailed(reason);
      },
    );
  }

  #complete(
    settled: readonly unknown[],
    onKnown: (snapshot: Snapshot) => void,
    onFailed: (reason: unknown) => void,
  ): void {
    if (this.#others === undefined) {
      dropArguments(settled);
      return;
    }
    let snapshot: Snapshot;
    try {
      snapshot = this.#snapshots.complete(this.#others, settled, this.#positions, this.#declared);
    } catch (error) {
      dropArguments(settled);
      if (this.#others !== undefined) onFailed(error);
      return;
    }
    // Their getters may have aborted the call.
    if (this.#others !== undefined) onKnown(snapshot);
  }

  /** The call is over. */
  onOver(): void {
    const { departures = [] } = this.#others ?? {};
    this.#others = undefined;
    for (const departure of departures) departure.end();
  }
}

/**
 * `snapshot` encoded again, as the declared shapes of its task require. `hasContext`: its last value is the context of the
 * call.
 */
export function redeclare(
  snapshot: Snapshot,
  declared: DeclaredValues,
  reader: SnapshotReader,
  snapshots: SnapshotEncoder,
  hasContext: boolean,
): Snapshot {
  let values = reader.read(snapshot);
  if (hasContext) {
    const context = values.pop();
    values = [...withContext(values, context, declared.length)];
  }
  // Structs carry no buffers, so without any other argument nothing moves.
  const hasOther = values.some((_, position) => declared[position] === undefined);
  const moved = hasOther ? snapshot.transfer : undefined;
  return snapshots.capture(values, ARGUMENTS, declared, undefined, moved);
}

/** Marks rejections of the promises as handled when their call is refused: the caller gets the refusal only. */
export function ignoreRejections(args: readonly unknown[], isPromise: IsPromise): void {
  for (const value of args) {
    if (!isPromise(value)) continue;
    try {
      promiseThen.call(value, undefined, () => {});
    } catch {
      // Its class creates no derived promises.
    }
  }
}

/** Whether one of the arguments is a promise. */
export function hasPromise(
  args: readonly unknown[],
  isPromise: (value: unknown) => boolean,
): boolean {
  if (args.length === 1 && typeof args[0] !== "object") return false;
  for (let index = 0; index < args.length; index++) {
    const value = args[index];
    if (typeof value === "object" && value !== null && isPromise(value)) return true;
  }
  return false;
}
