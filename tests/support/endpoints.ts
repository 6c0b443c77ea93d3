/** Two endpoints of one lane in one thread, over real rings and a channel made of two arrays. */
import "./features.ts";
import { Codec } from "../../src/codec/codec.ts";
import { Endpoint } from "../../src/lane/endpoint.ts";
import type { Snapshot, SnapshotEncoder } from "../../src/lane/snapshot.ts";
import { CONTROL_BYTES, laneBytes, REQUEST_RING, responseRing } from "../../src/lane/layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { PayloadPort } from "../../src/runtimes/runtime.ts";

export interface EndpointPair {
  readonly lane: SharedArrayBuffer;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly host: Endpoint;
  readonly worker: Endpoint;
  readonly snapshots: SnapshotEncoder;
  /** Messages on their way to the worker and to the host. */
  readonly toWorker: unknown[];
  readonly toHost: unknown[];
  /** Called by every post, before the message is there. */
  onPost: () => void;
}

/** Held values of which only these things matter. */
export function createHeld(parts: Partial<Snapshot> = {}): Snapshot {
  const nothing = {
    inline: undefined,
    payload: undefined,
    transfer: [],
    attached: [],
    copiedBytes: 0,
    departures: undefined,
  };
  return { count: 0, isResendable: true, ...nothing, ...parts };
}

/** The codec of one side, as pools make it. */
export function createCodec(origin: number, maxPayloadBytes = Infinity): Codec {
  return new Codec({
    access: currentRuntime,
    origin,
    maxPayloadBytes,
    allowsBorrow: origin === 0,
    compiledAfter: 1, // compiled code is what long runs are about
  });
}

export function createEndpoints(capacity = 4096, maxPayloadBytes = Infinity): EndpointPair {
  const lane = new SharedArrayBuffer(laneBytes({ requests: capacity, responses: capacity }));
  const requests = SpscRing.create(lane, REQUEST_RING, capacity);
  const responses = SpscRing.create(lane, responseRing(capacity), capacity);
  const pair = {
    lane,
    control: new Int32Array(lane, 0, CONTROL_BYTES / 4),
    toWorker: [] as unknown[],
    toHost: [] as unknown[],
    onPost: () => {},
  };
  const port = (out: unknown[], into: unknown[]): PayloadPort => ({
    post: (message, transfer) => {
      pair.onPost();
      out.push(structuredClone(message, { transfer: transfer as ArrayBuffer[] }));
    },
    receive: () => into.length === 0 ? undefined : { message: into.shift() },
    close: () => {},
  });
  const host = new Endpoint(
    requests.takeProducer(),
    responses.takeConsumer(),
    createCodec(0, maxPayloadBytes),
    port(pair.toWorker, pair.toHost),
  );
  const worker = new Endpoint(
    responses.takeProducer(),
    requests.takeConsumer(),
    createCodec(1, maxPayloadBytes),
    port(pair.toHost, pair.toWorker),
  );
  return Object.assign(pair, { host, worker, snapshots: host.snapshots });
}
