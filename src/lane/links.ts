/**
 * What lanes need beyond shared memory where the runtime lacks something: ports that are read without an event loop, or shared
 * memory itself. A build for such a runtime sets `links` before it creates a lane; others leave it empty, and load nothing.
 */
import type { RingConsumer } from "../ring/consumer.ts";
import type { SpscRing } from "../ring/spsc-ring.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HostMirror, HostMirrorOptions } from "../features/workers/mirror/host/host-mirror.ts";
import type {
  WorkerMirror,
  WorkerMirrorOptions,
} from "../features/workers/mirror/worker/worker-mirror.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";

export interface LaneLinks {
  takeConsumer(ring: SpscRing): RingConsumer;
  /** Connects an endpoint, whose `rx` is a consumer of this, with its port. `onArrival`: a payload has come. */
  attach(endpoint: Endpoint, port: PayloadPort, onArrival: () => void): void;
  createHostMirror(options: HostMirrorOptions): HostMirror;
  createWorkerMirror(options: WorkerMirrorOptions): WorkerMirror;
}

export const links: { current: LaneLinks | undefined } = { current: undefined };
