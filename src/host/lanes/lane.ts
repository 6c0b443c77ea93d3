/** One worker as the host's scheduling sees it. `thread-lane.ts` is the implementation. */
import type { Endpoint } from "../../lane/endpoint.ts";
import type { LaneLoad } from "./lane-load.ts";
import type { AnswerMessage } from "../../features/calls/requests/messages.ts";
import type { HostMessage } from "../../protocol/start-data.ts";
import type { PayloadCredit } from "./payload-credit.ts";
import type { Phase } from "./phase.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import type { WorkerReading } from "../../runtimes/worker-handle.ts";

export interface Lane {
  readonly id: number;
  /** `LaneSet.move` writes it. */
  phase: Phase;
  /** Why it drains, in words: with this it ends. */
  endsFor?: string;
  /** While it starts: the worker that it is to replace. */
  replaces?: Lane | undefined;
  /** The id of the worker that replaces it. */
  replacedBy?: number | undefined;
  /** It should be stopped and cannot be: it drains, and keeps the place of a worker. */
  isUnstoppable?: boolean;
  /** Objects of the program that live in it: while there are any, nobody ends it to save threads or memory. */
  residents?: number;
  /** As `WorkerHandle.read`. */
  read?: (() => Promise<WorkerReading | undefined>) | undefined;
  /** Its thread waits for an answer of the host, whatever its phase. */
  isBlocked?: boolean;
  readonly endpoint: Endpoint;
  /** How values of the program are looked at. */
  readonly access: CodecAccess;
  /** Calls sent and not answered. `Sender`, `Responses` and `Cancellation` update it. */
  readonly load: LaneLoad;
  /** Messages sent and not taken. `Sender` updates it. */
  readonly credit: PayloadCredit;
  /** Whether the worker is not parked: it runs a task or polls. */
  readonly isAwake: boolean;
  /** Whether the worker is idle and would begin a call at once after a wake. */
  readonly isResting: boolean;
  /** Whether responses wait in the worker for room in its ring. Read this before that ring. */
  readonly hasBacklog: boolean;
  /** Call after publishing something for the worker. `isAgain`: an earlier wake may have been interrupted. */
  wake(isAgain?: boolean): void;
  /** Call after releasing room: wakes a worker that waits for it. */
  wakeForSpace(): void;
  /**
   * Call between announcing a park and the second check: requests a wake when there is room or the worker is idle.
   */
  requestSpace(): void;
  /**
   * Posts a message of a feature, and moves the objects in `transfer`. Throws DataCloneError if a part cannot be cloned or moved.
   * False: the worker is gone.
   */
  postStream(message: HostMessage, transfer?: readonly unknown[]): boolean;
  /** The same for the answer that the worker waits for with its thread. */
  postAnswer(message: AnswerMessage, transfer: readonly unknown[]): boolean;
  /** Ends the worker: asks it to exit, or, with an error, stops it. Settles when it is gone. See `LanePhases.end`. */
  end(reason: string | Error): Promise<void>;
}
