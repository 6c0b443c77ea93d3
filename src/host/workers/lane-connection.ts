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
import type { MirrorMessage } from "../../features/workers/mirror/mirror-message.ts";
import { WAKE, type WorkerStart } from "../../protocol/start-data.ts";
import { SpscRing } from "../../ring/spsc-ring.ts";
import type { PayloadPort, Runtime, WorkerHandle } from "../../runtimes/runtime.ts";
import { wordsOf } from "../../sync/awake-count.ts";
import { SpaceFlag } from "../../sync/space-flag.ts";
import { Waker } from "../../sync/worker-parking.ts";
import type { Codec } from "../../codec/codec.ts";

/** The rings in the memory of a new lane, behind the host's endpoint. */
export function createEndpoint(
  memory: SharedArrayBuffer,
  { requests: requestCapacity, responses: responseCapacity }: RingSizes,
  codec: Codec,
  port: PayloadPort,
): Endpoint {
  const requests = SpscRing.create(memory, REQUEST_RING, requestCapacity);
  const responses = SpscRing.create(memory, responseRing(requestCapacity), responseCapacity);
  const consumer = links.current?.takeConsumer(responses) ?? responses.takeConsumer();
  return new Endpoint(requests.takeProducer(), consumer, codec, port);
}

/** In place of words of shared memory, where a worker shares none with the host (`features/workers/mirror/`). */
interface LaneMirror extends LaneWaking {
  /** Sends what was written, now. */
  flush(): void;
  receive(message: MirrorMessage): void;
}

interface LaneWaking {
  readonly state: number;
  wake(): boolean;
  repost(): void;
}

export interface LaneConnection {
  readonly waker: LaneWaking;
  /** Raised while the worker waits for room in its response ring. */
  readonly responseSpace: Pick<SpaceFlag, "take">;
  /** Raised while the host waits for room in the request ring. */
  readonly requestSpace: Pick<SpaceFlag, "raise">;
  /** In place of these where the worker shares no memory with the host. */
  readonly mirror: LaneMirror | undefined;
}

/** Sends a worker its start data, and connects it with its host otherwise than by shared memory. */
export type Connect = (
  handle: WorkerHandle,
  start: WorkerStart,
  ringSizes: RingSizes,
  runtime: Runtime,
) => LaneConnection;

/** Sends the worker its start data. */
export function connect(handle: WorkerHandle, start: WorkerStart): LaneConnection {
  const { lane, active, payloadPort } = start;
  handle.post(start, [payloadPort]);
  const control = new Int32Array(lane, 0, REQUEST_RING / 4);
  return {
    mirror: undefined,
    responseSpace: new SpaceFlag(control, WANTS_SPACE),
    requestSpace: new SpaceFlag(control, REQUEST_SPACE),
    waker: new Waker(control, PARKED_WORD, () => handle.post(WAKE), wordsOf(active)),
  };
}
