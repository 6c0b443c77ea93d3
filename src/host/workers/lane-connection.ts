/** How a lane's host wakes its worker: through words of shared memory, or by messages that bring what it has written. */
import {
  PARKED_WORD,
  REQUEST_RING,
  REQUEST_SPACE,
  responseRing,
  type RingSizes,
  WANTS_SPACE,
} from "../../lane/layout.ts";
import { Endpoint } from "../../lane/endpoint.ts";
import { links } from "../../lane/links.ts";
import type { HostMirror } from "../../lane/mirror/host-mirror.ts";
import { withoutMemory } from "../../protocol/mirrored-start.ts";
import { WAKE, type WorkerStart } from "../../protocol/start-data.ts";
import { SpscRing } from "../../ring/spsc-ring.ts";
import type { PayloadPort, WorkerHandle } from "../../runtimes/runtime.ts";
import { wordsOf } from "../../sync/awake-count.ts";
import { SpaceFlag } from "../../sync/space-flag.ts";
import { Waker } from "../../sync/worker-parking.ts";
import type { LaneOptions } from "./lane-options.ts";

/** The rings in the memory of a new lane, behind the host's endpoint. */
export function createEndpoint(
  memory: SharedArrayBuffer,
  { requests: requestCapacity, responses: responseCapacity }: RingSizes,
  codec: LaneOptions["codec"],
  port: PayloadPort,
): Endpoint {
  const requests = SpscRing.create(memory, REQUEST_RING, requestCapacity);
  const responses = SpscRing.create(memory, responseRing(requestCapacity), responseCapacity);
  const consumer = links.current?.takeConsumer(responses) ?? responses.takeConsumer();
  return new Endpoint(requests.takeProducer(), consumer, codec, port);
}

export interface LaneConnection {
  readonly waker: Pick<Waker, "state" | "wake" | "repost">;
  /** Raised while the worker waits for room in its response ring. */
  readonly responseSpace: Pick<SpaceFlag, "take">;
  /** Raised while the host waits for room in the request ring. */
  readonly requestSpace: Pick<SpaceFlag, "raise">;
  /** In place of these where the worker shares no memory with the host. */
  readonly mirror: HostMirror | undefined;
}

/** Sends the worker its start data. */
export function connect(
  handle: WorkerHandle,
  start: WorkerStart,
  { createMirror, ringSizes }: LaneOptions,
): LaneConnection {
  const { lane, active, payloadPort } = start;
  const mirror = createMirror?.(lane, (message, transfer) => handle.post(message, transfer));
  handle.post(mirror === undefined ? start : withoutMemory(start, ringSizes), [payloadPort]);
  const control = new Int32Array(lane, 0, REQUEST_RING / 4);
  return {
    mirror,
    responseSpace: mirror ?? new SpaceFlag(control, WANTS_SPACE),
    requestSpace: mirror ?? new SpaceFlag(control, REQUEST_SPACE),
    waker: mirror ?? new Waker(control, PARKED_WORD, () => handle.post(WAKE), wordsOf(active)),
  };
}
