/**
 * Runs of tasks that go on after their calls were settled (by an abort, a time limit, a closed pool): notifies those that wait
 * for the end of a run. Only calls that ask for it are in here (`CallSettings.run`), so a pool without such calls makes none.
 */
import { Map } from "../../../../builtins.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { type LateRuns as LateRunSink, RUN_BY_HOST } from "../../../../host/calls/in-flight.ts";
import type { Supervisor } from "../../../../host/workers/supervisor.ts";

export function createLateRuns({ supervisor, dispatcher: { inFlight } }: PoolParts): LateRuns {
  return inFlight.lateRuns = new LateRuns(supervisor);
}

export class LateRuns implements LateRunSink {
  /** By worker, then by call: what to do at the end of the run. */
  readonly #workers = new Map<number, Map<number, () => void>>();
  readonly #supervisor: Supervisor;

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** The worker is gone, and so are its runs. */
  onGone(workerId: number): void {
    const runs = this.#workers.get(workerId);
    this.#workers.delete(workerId);
    runs?.forEach((onEnded) => onEnded());
  }

  /** `onEnded` runs when the worker has responded to the call or is gone: at once if it is gone already. Runs no user code. */
  add(workerId: number, slot: number, generation: number, onEnded: () => void): void {
    const isAlive = workerId === RUN_BY_HOST ||
      [...this.#supervisor.threads].some(({ id }) => id === workerId);
    if (!isAlive) return onEnded();
    let runs = this.#workers.get(workerId);
    if (runs === undefined) this.#workers.set(workerId, runs = new Map());
    runs.set(keyOf(slot, generation), onEnded);
  }

  /** The worker has responded to a call that was settled before. */
  onResponse(workerId: number, slot: number, generation: number): void {
    const runs = this.#workers.get(workerId);
    if (runs === undefined || runs.size === 0) return;
    const key = keyOf(slot, generation);
    const onEnded = runs.get(key);
    runs.delete(key);
    onEnded?.();
  }
}
