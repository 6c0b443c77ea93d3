/** Takes calls that no worker has begun back from their lane, and gives them to another or to the queue. */
import { UNKNOWN_LOAD } from "../endpoint/service-times.ts";
import type { HeldOf, TakenBack } from "../endpoint/taken-back.ts";
import type { QueuedCall } from "./call-queue.ts";
import { type InFlight, QUEUED_ON_HOST } from "./in-flight.ts";
import type { Lane } from "./lane.ts";
import {
  type Relief,
  type ReliefOutcome,
  takeAll,
  takeCalls,
  tryRelief,
  type Urgency,
} from "./relief.ts";

export interface MoverOptions {
  readonly inFlight: InFlight;
  /** Sends a call to a lane; false: no room. */
  readonly send: (lane: Lane, call: QueuedCall) => boolean;
  /** Queues calls, in this order, before all others of their priority. */
  readonly putBack: (calls: readonly QueuedCall[]) => void;
  readonly failLane: (lane: Lane, error: Error) => void;
}

export class Mover {
  /** Calls taken back to be run elsewhere. */
  moved = 0;
  readonly #options: MoverOptions;

  constructor(options: MoverOptions) {
    this.#options = options;
  }

  relieve(relief: Relief, urgency: Urgency): ReliefOutcome {
    return tryRelief(
      relief,
      (from) => this.take(from, (heldOf) => takeCalls(from, urgency, heldOf)),
      (to, calls) => {
        this.moved += calls.length;
        this.#options.putBack(calls.filter((call) => !this.#options.send(to, call)));
      },
    );
  }

  /** Queues all calls of a lane that are not begun. */
  queueAgain(lane: Lane): void {
    const calls = this.take(lane, (heldOf) => takeAll(lane, heldOf)) ?? [];
    this.moved += calls.length;
    this.#options.putBack(calls);
  }

  /**
   * Calls of `from` that are to run elsewhere, and are its own no more; nobody waits for those left out.
   * Undefined: as `takeBack` says.
   */
  take(
    from: Lane,
    takeBack: (heldOf: HeldOf) => TakenBack[] | undefined,
  ): QueuedCall[] | undefined {
    const { inFlight, failLane } = this.#options;
    try {
      const taken = takeBack((slot, generation) => inFlight.find(slot, generation)?.again?.held);
      return taken?.flatMap((call) => this.#count(from, call) ?? []);
    } catch (error) {
      // Only a ProtocolError comes this way: the ring of the worker that is to be relieved is damaged.
      failLane(from, error as Error);
      return [];
    }
  }

  /** Sees to it that what a lane has not begun never is. */
  revokeAll(lane: Lane): void {
    const { inFlight, failLane } = this.#options;
    try {
      for (const index of lane.endpoint.unbegunCalls()) {
        const id = lane.endpoint.revokeCall(index);
        if (id === undefined) continue;
        lane.load.remove(inFlight.find(id.slot, id.generation)?.load ?? UNKNOWN_LOAD);
      }
    } catch (error) {
      failLane(lane, error as Error); // only a ProtocolError comes this way
    }
  }

  /** Counts a call as taken back. Undefined: nobody waits for it any more. */
  #count(from: Lane, taken: TakenBack): QueuedCall | undefined {
    const call = this.#options.inFlight.find(taken.slot, taken.generation);
    from.load.remove(call?.load ?? UNKNOWN_LOAD);
    if (call === undefined) return undefined;
    call.lane = QUEUED_ON_HOST;
    return { ...taken, priority: call.settings.priority };
  }
}
