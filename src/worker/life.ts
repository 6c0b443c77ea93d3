/** What a worker tells of its life to a host that blocks, by bits of the word LIFE. One in its event loop gets messages. */
import {
  type BEGUN,
  ENDED,
  HOST_PARKED_WORD,
  LIFE,
  REQUEST_RING,
  type STARTED,
} from "../lane/layout.ts";
import type { WorkerStart } from "../protocol/start-data.ts";
import { wakeBlockedHost } from "../sync/host-parking.ts";

type Shared = Pick<WorkerStart, "lane" | "hostControl">;

export function announceEnd(start: Shared): void {
  try {
    setLife(start, ENDED);
  } catch {
    // A task has removed Atomics. The thread must end nevertheless.
  }
}

export function setLife(
  { lane, hostControl }: Shared,
  life: typeof BEGUN | typeof STARTED | typeof ENDED,
): void {
  // SYNC(life): after what it tells was posted, before the host is woken. Pairs with ThreadLane.checkLife. Needs seq-cst.
  Atomics.or(new Int32Array(lane, 0, REQUEST_RING / 4), LIFE, life);
  wakeBlockedHost(new Int32Array(hostControl), HOST_PARKED_WORD);
}
