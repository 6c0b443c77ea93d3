/** Result streams that nobody reads, which a pool that closes does not wait for. */
import type { Runtime } from "../../../../runtimes/runtime.ts";
import type { InFlight } from "../../../../host/calls/in-flight.ts";

/** Longest time between two reads of a stream that `shutdown()` waits for. A reader may wait for the sink of its items. */
const UNREAD_MS = 1000;

/**
 * Calls back when for a while only streams have been in flight that nobody has read. Returns a function that ends the
 * watch.
 */
export function whenUnread(
  inFlight: InFlight,
  setInterval: Runtime["setInterval"],
  onUnread: () => void,
): () => void {
  /** Items that the readers have taken so far; undefined: somebody waits for a call. */
  const read = (): number | undefined => {
    if (inFlight.hasAwaitedCalls) return undefined;
    return inFlight.callsOf().reduce((sum, { extra }) => sum + (extra?.stream?.taken ?? 0), 0);
  };
  let before = read();
  const timer = setInterval(() => {
    const now = read();
    if (now !== undefined && now === before) onUnread();
    before = now;
  }, UNREAD_MS);
  return () => timer.clear();
}
