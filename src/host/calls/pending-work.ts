/** What polls have to do beside taking responses. A poll reads these two words and asks nothing else (`poll-loop.ts`). */
import type { PendingCall } from "./in-flight.ts";

export class PendingWork {
  /**
   * Bookkeeping is due: calls wait on the host, lanes open, drain or close, producers wait for the drain event, or workers
   * are recycled by the number of calls. Set by the cause; cleared when there is no cause left (`Dispatcher`).
   */
  isDue = false;
  /** The call that is being made or sent. A poll that sees one knows that a stack overflow interrupted it (`sender.ts`). */
  marked: PendingCall | undefined = undefined;
  /** Schedules a poll after the caller's synchronous code. The poll loop sets it. */
  kick: () => void = () => {};
}
