/**
 * Sends values of the common kinds from this thread to itself, since engines compile a function when it is first called: once by
 * each thread, while it waits for the other side of its first lane.
 */
import { Codec } from "../codec/codec.ts";
import { EMPTY } from "../ring/consumer.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { RING_HEADER_BYTES } from "../ring/ring-layout.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import { Endpoint } from "./endpoint.ts";
import { DESCRIPTOR_WORD, KEY_LISTS, kindOf, RESULT, RESULT_VALUE } from "./frame.ts";
import { UNSIZED } from "./sized-values.ts";

const RING_BYTES = 4096;

/** Objects of one key list: at first with their keys, then with the number of the key list. */
const values = (): unknown[] => [
  ...[1, 2, 3].map((id) => ({ id, name: "text", list: ["a", 0.5], of: { isIt: true } })),
  new Uint8Array(16),
  "text",
  0.5,
];

let isWarm = false;

export function warmUp(access: CodecAccess): void {
  if (isWarm) return;
  isWarm = true;
  const codec = new Codec({ access, origin: 0, maxPayloadBytes: RING_BYTES, allowsBorrow: false });
  const memory = new SharedArrayBuffer(RING_HEADER_BYTES + RING_BYTES);
  const ring = SpscRing.create(memory, 0, RING_BYTES);
  const port = { post: () => {}, receive: () => undefined, close: () => {} };
  const endpoint = new Endpoint(ring.takeProducer(), ring.takeConsumer(), codec, port);
  for (const value of values()) {
    send(endpoint, value);
    receive(endpoint);
  }
}

function send(endpoint: Endpoint, value: unknown): void {
  const { sized, snapshots } = endpoint;
  const bytes = sized.roomForOne(value);
  if (bytes !== UNSIZED) {
    endpoint.sendSizedOne(bytes, RESULT_VALUE, 0, 0, 0, value);
    return;
  }
  const encoder = snapshots.codec.acquire();
  const end = snapshots.encodeResult(encoder, value, undefined);
  if (endpoint.announceKeyLists()) endpoint.sendEncoded(encoder, end, RESULT, 0, 0, 0, 1);
  snapshots.codec.release(encoder);
}

function receive(endpoint: Endpoint): void {
  const { rx } = endpoint;
  for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
    rx.acquire(index);
    const descriptor = rx.memory.i32[(index >> 2) + DESCRIPTOR_WORD]!;
    if (kindOf(descriptor) === KEY_LISTS) endpoint.receiveKeyLists(index, descriptor);
    else endpoint.readValues(index, descriptor);
    rx.release();
  }
  rx.publish();
}
