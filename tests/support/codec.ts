/** Values through the codec, in one thread: over a pair of endpoints, or as bytes of their own. */
import { Decoder } from "../../src/codec/decoder.ts";
import { Encoder } from "../../src/codec/encoder.ts";
import { SharedBuffers } from "../../src/codec/shared-buffers.ts";
import { SENT } from "../../src/endpoint/endpoint.ts";
import { CALL, kindOf, SHAPES, WHAT_WORD } from "../../src/endpoint/frame.ts";
import { viewMemory } from "../../src/memory/views.ts";
import { EMPTY } from "../../src/ring/consumer.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { createEndpoints, type EndpointPair } from "./endpoints.ts";

const CAPACITY = 1 << 20;
let shared: EndpointPair | undefined;

/** Sends `values` as a call does, and returns what the worker reads. */
export function send(pair: EndpointPair, values: readonly unknown[]): unknown[] {
  const outcome = pair.host.sendCall({ slot: 5, generation: 6 }, 7, values);
  if (outcome !== SENT) {
    const held = typeof outcome === "object" ? outcome : pair.holder.hold(values);
    const isSent = pair.host.sendHeld(CALL, 5, 6, 7, held);
    // Shapes told before it, and the padding in front of them, may have taken the room.
    if (!isSent) {
      takeShapes(pair);
      if (!pair.host.sendHeld(CALL, 5, 6, 7, held)) throw new Error("No room in an empty ring.");
    }
  }
  return receive(pair);
}

/** The values of the next call, after whatever shapes were told before it. */
export function receive(pair: EndpointPair): unknown[] {
  takeShapes(pair);
  const { rx } = pair.worker;
  const index = rx.poll();
  if (index === EMPTY || !rx.acquire(index)) throw new Error("No record.");
  try {
    return pair.worker.readValues(index, rx.memory.i32[(index >> 2) + WHAT_WORD]!);
  } finally {
    rx.release();
  }
}

/** Reads the SHAPES records at the front of the worker's ring. */
function takeShapes(pair: EndpointPair): void {
  const { rx } = pair.worker;
  for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
    const what = rx.memory.i32[(index >> 2) + WHAT_WORD]!;
    if (kindOf(what) !== SHAPES) return;
    rx.acquire(index);
    pair.worker.learnShapes(index, what);
    rx.release();
  }
  rx.publish();
}

/** What arrives for `values`, through one pair of endpoints that lives as long as the process. */
export function roundTrip(values: readonly unknown[]): unknown[] {
  return send(shared ??= createEndpoints(CAPACITY), values);
}

/** `values` as bytes that need nothing else to be read. */
export function encode(values: readonly unknown[]): Uint8Array<ArrayBuffer> {
  const encoder = new Encoder({
    access: currentRuntime,
    shapes: undefined,
    sharedBuffers: new SharedBuffers(0),
    maxPayloadBytes: Infinity,
    mayLend: true,
  });
  let at = encoder.beginInScratch();
  for (const value of values) at = encoder.root(value, at);
  return new Uint8Array(encoder.u8.subarray(0, at));
}

/** `count` values out of bytes that `encode` made, or anything else. */
export function decode(bytes: Uint8Array, count: number): unknown[] {
  const memory = viewMemory(new SharedArrayBuffer(Math.ceil(bytes.length / 8) * 8));
  memory.u8.set(bytes);
  const decoder = new Decoder(currentRuntime, undefined, new SharedBuffers(0));
  return decoder.all(memory, 0, memory.u8.length, count);
}
