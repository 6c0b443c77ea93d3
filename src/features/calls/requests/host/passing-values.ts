/**
 * Values that pass through the host, from one worker to another: what has moved to the host moves on, since nobody else has it.
 */
import { MessagePort, Set } from "../../../../builtins.ts";
import type { DeclaredValues } from "../../../../codec/declared.ts";
import { DataCloneError } from "../../../../errors.ts";
import type { Snapshot, SnapshotEncoder } from "../../../../lane/snapshot.ts";

/** Objects that can be moved and not copied, by their tags; ports have none on Node. */
const MOVABLE: ReadonlySet<string> = new Set([
  "[object MessagePort]",
  "[object ReadableStream]",
  "[object WritableStream]",
  "[object TransformStream]",
]);

function isMovable(value: object, tag: string): boolean {
  return MOVABLE.has(tag) || (typeof MessagePort === "function" && value instanceof MessagePort);
}

/** As `SnapshotEncoder.capture`. */
export function capturePassing(
  snapshots: SnapshotEncoder,
  values: readonly unknown[],
  name: string,
  declared?: DeclaredValues,
): Snapshot {
  try {
    return snapshots.capture(values, name, declared);
  } catch (error) {
    const moved = error instanceof DataCloneError ? findMovable(values) : [];
    if (moved.length === 0 || declared !== undefined) throw error;
    return snapshots.capture(values, name, undefined, undefined, moved);
  }
}

/** The objects in these values that can only be moved. The values have been decoded: they have no getters. */
function findMovable(values: readonly unknown[]): unknown[] {
  const seen = new Set<unknown>();
  const found: unknown[] = [];
  const left: unknown[] = [...values];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    const tag = Object.prototype.toString.call(value);
    if (isMovable(value, tag)) found.push(value);
    else if (tag === "[object Map]") {
      for (const entry of value as Map<unknown, unknown>) left.push(...entry);
    } else if (tag === "[object Set]") left.push(...value as Set<unknown>);
    else if (tag === "[object Array]" || tag === "[object Object]") {
      left.push(...Object.values(value));
    }
  }
  return found;
}
