/**
 * Sends objects from this thread to itself, since engines compile a function when it is first called: once by a host whose first
 * calls carry objects, while its first thread loads its code. Workers take their first call at once instead.
 */
import { Codec } from "../codec/codec.ts";
import { EMPTY } from "../ring/consumer.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { RING_HEADER_BYTES } from "../ring/ring-layout.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import { Endpoint } from "./endpoint.ts";
import { DESCRIPTOR_WORD, KEY_LISTS, kindOf, RESULT } from "./frame.ts";

const RING_BYTES = 4096;

/** Objects of one key list: at first with their keys, then with the number of the key list. */
const createObjects = (): object[] =>
  [1, 2, 3].map((id) => ({ id, name: "text", list: ["a", 0.5], of: { isIt: true } }));

let isWarm = false;

export function warmUp(access: CodecAccess): void {
  if (isWarm) return;
  isWarm = true;
  const codec = new Codec({ access, origin: 0, maxPayloadBytes: RING_BYTES, allowsBorrow: false });
  const memory = new SharedArrayBuffer(RING_HEADER_BYTES + RING_BYTES);
  const ring = SpscRing.create(memory, 0, RING_BYTES);
  const port = { post: () => {}, receive: () => undefined, close: () => {} };
  const endpoint = new Endpoint(ring.takeProducer(), ring.takeConsumer(), codec, port);
  for (const value of createObjects()) {
    send(endpoint, value);
    receive(endpoint);
  }
}

function send(endpoint: Endpoint, value: object): void {
  const { snapshots } = endpoint;
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
