/**
 * Objects that are made again when they are lost with their workers, as often as the option `restart` allows: the intensity of
 * supervisors in Erlang/OTP (`max` within `withinMs`).
 */
import { Promise } from "../../../../builtins.ts";
import { ObjectLostError, WorkerLostError } from "../../../../errors.ts";
import { lost, type SpawnedObject } from "./registry.ts";
import type { RestartSettings } from "./spawn-options.ts";

export interface Restarts extends RestartSettings {
  readonly now: () => number;
  /** Whether the pool has ended. */
  readonly isOver: () => boolean;
  /** Makes the object in another worker, and returns a handle whose calls do not wait. Rejects as `Objects.create`. */
  readonly make: (object: SpawnedObject) => Promise<object>;
}

/** From now on the object is made again. */
export function restartWhenLost(object: SpawnedObject, restarts: Restarts): void {
  const { max, withinMs, now, isOver } = restarts;
  let times: number[] = [];
  const mayRestart = (): boolean => {
    if (isOver()) return false;
    const nowMs = now();
    times = times.filter((ms) => nowMs - ms < withinMs);
    return times.length < max && times.push(nowMs) > 0;
  };
  object.onLost = () => {
    // Released, or whoever makes it again sees that it is lost once more.
    if (object.released !== undefined || object.remade !== undefined || !mayRestart()) return;
    object.remade = makeAgain(object, restarts, mayRestart);
    object.remade.catch(() => {}); // its calls tell
  };
}

async function makeAgain(
  object: SpawnedObject,
  { make, replay }: Restarts,
  mayRestart: () => boolean,
): Promise<number> {
  await Promise.resolve(); // all parts of the pool have heard of the loss
  for (;;) {
    if (object.released === undefined) object.lost = undefined;
    try {
      const handle = await make(object);
      await replay?.(handle);
      if (object.lost === undefined || object.released !== undefined) break;
    } catch (error) {
      const isLost = error instanceof ObjectLostError && error.cause instanceof WorkerLostError;
      if (!isLost || object.released !== undefined || !mayRestart()) {
        const why = () => lost(object.className, "it was not made again", { cause: error });
        object.lost = why;
        return giveUp(object, why());
      }
      continue;
    }
    if (!mayRestart()) return giveUp(object, object.lost!());
  }
  object.remade = undefined;
  return object.id;
}

function giveUp(object: SpawnedObject, error: Error): never {
  object.remade = undefined;
  object.onOver?.();
  throw error;
}
