/**
 * What lanes need where ports are read by an event loop alone (browsers). The build for such a runtime sets `links` before it creates
 * a lane; others leave it empty, and load nothing.
 */
import type { RingConsumer } from "../ring/consumer.ts";
import type { SpscRing } from "../ring/spsc-ring.ts";
import type { Endpoint } from "./endpoint.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";

export interface LaneLinks {
  takeConsumer(ring: SpscRing): RingConsumer;
  /** Connects an endpoint, whose `rx` is a consumer of this, with its port. `onArrival`: a payload has come. */
  attach(endpoint: Endpoint, port: PayloadPort, onArrival: () => void): void;
}

export const links: { current: LaneLinks | undefined } = { current: undefined };
