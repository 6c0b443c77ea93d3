/**
 * What a lane (`thread-lane.ts`) is made of: its rings, and how the host wakes its worker: through words of shared memory, or by
 * messages that bring what it has written.
 */
import type { Codec } from "../../codec/codec.ts";
import { Endpoint } from "../../lane/endpoint.ts";
import { links } from "../../lane/links.ts";
import {
  PARKED_WORD,
  REQUEST_RING,
  REQUEST_SPACE,
  responseRing,
  type RingSizes,
  WANTS_SPACE,
} from "../../lane/layout.ts";
import type { HostMirror } from "../../features/workers/mirror/host/host-mirror.ts";
import { type PoolStart, WAKE, type WorkerStart } from "../../protocol/start-data.ts";
import { SpscRing } from "../../ring/spsc-ring.ts";
import type { HostRuntime, PayloadPort, Runtime } from "../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import { wordsOf } from "../../sync/awake-count.ts";
import { SpaceFlag } from "../../sync/space-flag.ts";
import { Waker } from "../../sync/worker-parking.ts";

/** What a lane is created with. */
export interface LaneOptions {
  readonly runtime: HostRuntime;
  readonly codec: Codec;
  /** Starts a thread, or returns the one that was started in advance. */
  readonly spawn: (workerId: number) => WorkerHandle;
  /** Loads what makes workers on the host's thread. Undefined: a pool without threads fails. */
  readonly spawnOnHost?: (() => Promise<() => WorkerHandle>) | undefined;
  readonly ringSizes: RingSizes;
  /** Where workers share no memory with the host. */
  readonly connect?: Connect | undefined;
  readonly start: PoolStart;
  /** Longest time to become ready, and to close, in milliseconds. */
  readonly startTimeoutMs: number;
  readonly teardownTimeoutMs: number;
}

export interface LaneConnection {
  readonly waker: Pick<Waker, "state" | "wake" | "repost">;
  /** Raised while the worker waits for room in its response ring. */
  readonly responseSpace: Pick<SpaceFlag, "take">;
  /** Raised while the host waits for room in the request ring. */
  readonly requestSpace: Pick<SpaceFlag, "raise">;
  /** In place of these where the worker shares no memory with the host (`features/workers/mirror/`). */
  readonly mirror?: Pick<HostMirror, "flush" | "receive" | "recover" | "heardMs">;
}

/** Sends a worker its start data, and connects it with its host. */
export type Connect = (
  handle: WorkerHandle,
  start: WorkerStart,
  ringSizes: RingSizes,
  runtime: Runtime,
) => LaneConnection;

export const connect: Connect = (handle, start) => {
  handle.post(start, [start.payloadPort]);
  const control = new Int32Array(start.lane, 0, REQUEST_RING / 4);
  return {
    responseSpace: new SpaceFlag(control, WANTS_SPACE),
    requestSpace: new SpaceFlag(control, REQUEST_SPACE),
    waker: new Waker(control, PARKED_WORD, () => handle.post(WAKE), wordsOf(start.active)),
  };
};

/** The rings in the memory of a new lane, behind the host's endpoint. */
export function createEndpoint(
  memory: SharedArrayBuffer,
  { codec, ringSizes }: LaneOptions,
  port: PayloadPort,
): Endpoint {
  const requests = SpscRing.create(memory, REQUEST_RING, ringSizes.requests);
  const responses = SpscRing.create(memory, responseRing(ringSizes.requests), ringSizes.responses);
  const consumer = links.current?.takeConsumer(responses) ?? responses.takeConsumer();
  return new Endpoint(requests.takeProducer(), consumer, codec, port);
}
