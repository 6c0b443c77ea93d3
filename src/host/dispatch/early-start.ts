/**
 * The first call of a pool goes to the first worker while that starts, so that it finds it in its ring when it has loaded its tasks.
 * All others wait on the host until a worker is ready.
 *
 * The host may not know the tasks yet. Then the call has its task's name, and the worker runs it if it may (`runsByName`). If
 * not, it leaves the record alone: the host, which learns the tasks before it reads the rings of that worker, sends the call again
 * as its task wants it.
 */
import { PLAIN } from "../calls/call-settings.ts";
import { type InFlight, QUEUED_ON_HOST } from "../calls/in-flight.ts";
import type { QueuedCall } from "../calls/queued-call.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import { HeddleError } from "../../errors.ts";
import { UNKNOWN_LOAD } from "../../metering/task-timings.ts";
import type { Sender } from "./queue/sender.ts";
import type { WaitingCalls } from "./queue/waiting-calls.ts";

export interface EarlyStartParts {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly sender: Sender;
  readonly waiting: WaitingCalls;
  /** Queues the calls that a lane has not begun (`Revocation.requeue`). */
  readonly requeue: (lane: Lane) => void;
}

export class EarlyStart {
  readonly #parts: EarlyStartParts;
  #isOver = false;

  constructor(parts: EarlyStartParts) {
    this.#parts = parts;
  }

  /** Workers run something before their first call: none is sent early any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Sends a call. False: it has to wait. */
  start(queued: QueuedCall): boolean {
    const { inFlight, lanes: { starting, all }, sender, waiting } = this.#parts;
    if (this.#isOver || starting === undefined || starting.load.sent > 0 || all.length > 0) {
      return false;
    }
    const { snapshot: { payload, departures }, slot, generation } = queued;
    const call = inFlight.find(slot, generation)!;
    const isPlain = call.settings === PLAIN && payload === undefined && departures === undefined;
    // Calls for certain workers, such as those that prepare a worker, go first.
    if (!isPlain || waiting.pinned !== undefined) return false;
    if (queued.early !== undefined) call.keep().retryPayload = queued;
    if (!sender.sendSnapshot(starting, queued, UNKNOWN_LOAD)) return false;
    starting.load.isWaking = true; // it does not answer soon
    return true;
  }

  /** The tasks are known, from a worker whose rings the host has not read yet. */
  onTasksKnown(): void {
    const { inFlight, lanes: { starting }, requeue, waiting } = this.#parts;
    if (starting === undefined) return;
    for (const call of inFlight.callsOf(starting.id)) {
      const { extra } = call;
      const queued = extra?.retryPayload;
      if (queued?.early === undefined) continue;
      const found = queued.early.find();
      if (!(found instanceof HeddleError) && found.runsByName) {
        call.row = found.task + 1;
        extra!.retryPayload = { ...queued, task: found.task, early: undefined };
        continue;
      }
      requeue(starting);
      if (call.lane === QUEUED_ON_HOST) continue;
      // The worker has seen the record and left it alone.
      starting.load.remove(call.load);
      call.lane = QUEUED_ON_HOST;
      if (extra!.isCancelled) inFlight.resolve(call, undefined);
      else waiting.putBack([queued]);
    }
  }
}
