/**
 * Objects that are made again when they are lost with their workers, as often as the option `restart` allows: the intensity of
 * supervisors in Erlang/OTP (`max` within `withinMs`).
 */
import { Promise } from "../../../../builtins.ts";
import { ObjectLostError } from "../../../../errors.ts";
import { lost, type SpawnedObject } from "./registry.ts";
import type { RestartSettings } from "./spawn-options.ts";

export interface Restarts extends RestartSettings {
  readonly now: () => number;
  /** Runs `f` in a later turn of the event loop. */
  readonly later: (f: () => void) => void;
  /** Whether the pool has ended. */
  readonly isOver: () => boolean;
  /** Makes the object in another worker. Rejects with an ObjectLostError if that is lost as well. */
  readonly make: () => Promise<void>;
}

/** From now on the object is made again. */
export function restartWhenLost(object: SpawnedObject, restarts: Restarts): void {
  const { max, withinMs, now, later, isOver, make } = restarts;
  let times: number[] = [];
  const mayRestart = (): boolean => {
    if (isOver()) return false;
    const nowMs = now();
    times = times.filter((ms) => nowMs - ms < withinMs);
    return times.length < max && times.push(nowMs) > 0;
  };
  /** Lost once more before it was known to be there. */
  let isLostAgain = false;
  const makeAgain = async (): Promise<number> => {
    await Promise.resolve(); // all parts of the pool have heard of the loss
    for (;;) {
      isLostAgain = false;
      let cause: unknown;
      try {
        await make();
        if (!isLostAgain) break;
      } catch (error) {
        cause = error;
      }
      // Its worker was lost as well, or an object that it needs, which may be made again.
      const isLost = isLostAgain || cause instanceof ObjectLostError;
      if (isLost && object.released === undefined && mayRestart()) continue;
      object.isBeingMade = false;
      object.lost = () => lost(object.className, "it was not made again", { cause });
      object.onOver?.();
      throw object.lost();
    }
    object.isBeingMade = false;
    return object.id;
  };
  object.onLost = () => {
    if (object.released !== undefined) return;
    if (object.isBeingMade) isLostAgain = true;
    else if (!mayRestart()) return;
    object.lost = undefined;
    if (isLostAgain) return;
    object.isBeingMade = true;
    const remade = object.remade = makeAgain();
    // Calls that have waited for it are sent first: calls of this turn wait as well.
    const end = (): void =>
      later(() => {
        if (object.remade === remade) object.remade = undefined;
      });
    remade.then(end, end);
  };
  if (object.lost !== undefined) object.onLost(); // before this was known
}
