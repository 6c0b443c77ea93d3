/** What the code of workers (`entry.ts`) asks of the thread that it runs on. */
import type { WorkerStart } from "../protocol/start-data.ts";
import type { WorkerRealm } from "../realm/worker-realm.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import type { ParentHandle } from "../runtimes/worker-handle.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import type { SpscRing } from "../ring/spsc-ring.ts";

/** Where a worker runs: in a thread of its own, or in the host's. */
export interface Site {
  readonly parent: ParentHandle;
  /** Whether it is the host's thread, which must not be blocked, and whose memory and limits are not the worker's. */
  readonly isHost: boolean;
  /** Where the thread has a process of its own: its payload port. What it sends is copied. */
  readonly port?: PayloadPort;
  /** Takes the requests in place of the ring's own consumer. */
  readonly takeConsumer?: (requests: SpscRing) => RingConsumer;
  /** The tasks that need not be loaded, by index: functions or declared tasks. */
  readonly known: readonly unknown[];
  /** Runs `f`, and all that it starts, as this worker. */
  enter(realm: WorkerRealm, start: WorkerStart, f: () => void): void;
  /** Ends the worker with an exception. */
  crash(error: unknown): void;
}

/** Serves a worker: returns what takes its messages, the start data first. */
export type Serve = (site: Site) => (message: unknown) => void;
