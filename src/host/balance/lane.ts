/** One worker, as whatever sends it calls and takes its responses sees it. `thread-lane.ts` is the one that there is. */
import type { Endpoint } from "../../lane/endpoint.ts";
import type { LaneLoad } from "./lane-load.ts";
import type { PayloadCredit } from "../workers/payload-credit.ts";

export interface Lane {
  readonly id: number;
  readonly endpoint: Endpoint;
  /** Calls sent and not answered. Kept by `Sender`, `Responses` and `Cancellation`. */
  readonly load: LaneLoad;
  /** Messages sent and not taken. Kept by `Sender` and `Cancellation`. */
  readonly credit: PayloadCredit;
  /** Whether the worker is not parked: it runs something, or looks for something to run. */
  readonly isAwake: boolean;
  /** Whether the worker has nothing to run and would begin a call at once, once woken. */
  readonly isResting: boolean;
  /** Whether responses wait in the worker for room in its ring. To be read before that ring is. */
  readonly hasBacklog: boolean;
  /** After something was published for the worker. `isAgain`: a wake may have been cut off half-way. */
  wake(isAgain?: boolean): void;
  /** After room was handed back: wakes a worker that waits for it. */
  wakeForSpace(): void;
  /** Between announcing a park and looking again: asks for a wake when there is room, or the worker has nothing to do. */
  askForSpace(): void;
  /** Tells the worker that a call it may be running was given up. */
  tellAbort(slot: number, generation: number, reason: unknown): void;
  /** Stops a worker that broke the protocol, or its time limit; its calls are lost for that reason. */
  fail(error: Error): void;
}
