/** The processes of `contended`. */
import * as contended from "../scenarios/contended-cases.ts";
import { onHalfCore } from "./half-core.ts";
import { onOneCore } from "./one-core.ts";
import { BARE_WORKER, byName, inTurn, oneWorker } from "./one-worker.ts";
import type { Choices, Contender } from "./scenario.ts";

/** What bounds the threads of a process from outside. */
const BOUNDS: Readonly<Record<string, (contender: Contender) => Contender>> = {
  [contended.ONE_CORE]: onOneCore,
  [contended.HALF_CORE]: onHalfCore,
};

/** Who is there in all placements; the other pools have the two with which they were first compared. */
const EVERYWHERE: readonly string[] = ["heddle", contended.NEVER_SPINNING, BARE_WORKER, "Piscina"];

export function contendedContenders(choices: Choices, runtime: string): readonly Contender[] {
  const all = [...oneWorker(choices, runtime), byName(contended.NEVER_SPINNING)];
  const left = all.filter((each) => each.left !== undefined);
  const running = all.filter((each) => each.left === undefined);
  const some = running.filter(({ name }) => EVERYWHERE.includes(name));
  const processes = (choices.isQuick ? contended.QUICK_PLACEMENTS : contended.PLACEMENTS).flatMap(
    (placement) => {
      const contenders = placement === contended.BUSY || placement === contended.ONE_CORE
        ? running
        : some;
      const own = inTurn(contenders, placement, ["--variant", placement]);
      const bound = runtime === "" ? undefined : BOUNDS[placement];
      return bound === undefined ? own : own.map(bound);
    },
  );
  return [...processes, ...left];
}
