/** Values through the codec, in one thread: over a pair of endpoints, or as bytes of their own. */
import "./features.ts";
import { Decoder } from "../../src/codec/decoder.ts";
import { Encoder } from "../../src/codec/encoder.ts";
import { SharedBuffers } from "../../src/codec/support/shared-buffers.ts";
import type { DeclaredValues } from "../../src/codec/declared.ts";
import type { Endpoint } from "../../src/lane/endpoint.ts";
import {
  CALL,
  CALL_WITH_NUMBER,
  CALL_WITH_VALUE,
  DESCRIPTOR_WORD,
  KEY_LISTS,
  kindOf,
  RESULT,
  RESULT_VALUE,
} from "../../src/lane/frame.ts";
import { ARGUMENTS, countDeclared, type Snapshot } from "../../src/lane/snapshot.ts";
import { UNSIZED } from "../../src/lane/sized-values.ts";
import { viewMemory } from "../../src/memory/views.ts";
import { EMPTY } from "../../src/ring/consumer.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { createEndpoints, type EndpointPair } from "./endpoints.ts";

const CAPACITY = 1 << 20;
let shared: EndpointPair | undefined;

/** The id that calls here have, and their task. */
const [SLOT, GENERATION, TASK] = [5, 6, 0];

/** Sends a call as the host does. False: no room now; held values: no record can carry them. */
export function sendCall(
  endpoint: Endpoint,
  args: readonly unknown[],
  declared?: DeclaredValues,
): boolean | Snapshot {
  const { sized, snapshots } = endpoint;
  const [only] = args;
  if (declared === undefined && args.length === 1 && typeof only === "number") {
    return endpoint.sendNumber(SLOT, GENERATION, CALL_WITH_NUMBER, TASK, only);
  }
  const bytes = declared === undefined ? sized.roomFor(args) : UNSIZED;
  if (bytes !== UNSIZED) {
    return args.length === 1
      ? endpoint.sendSizedOne(bytes, CALL_WITH_VALUE, SLOT, GENERATION, TASK, only)
      : endpoint.sendSized(bytes, CALL, SLOT, GENERATION, TASK, args);
  }
  const encoder = snapshots.codec.acquire();
  try {
    const end = snapshots.encode(encoder, args, ARGUMENTS, declared);
    const count = declared === undefined ? args.length : countDeclared(args, declared);
    if (!snapshots.isInline(encoder, end)) return snapshots.take(encoder, end, count, true);
    return endpoint.announceKeyLists() &&
      endpoint.sendEncoded(encoder, end, CALL, SLOT, GENERATION, TASK, count);
  } finally {
    snapshots.codec.release(encoder);
  }
}

/** Sends a call whose values are held. False: no room now. */
export function sendHeldCall(endpoint: Endpoint, snapshot: Snapshot): boolean {
  return endpoint.announceKeyLists() &&
    endpoint.sendSnapshot(CALL, SLOT, GENERATION, TASK, snapshot);
}

/** As `sendCall`, for values that no record can carry. */
export function holdCall(endpoint: Endpoint, args: readonly unknown[]): Snapshot {
  const snapshot = sendCall(endpoint, args);
  if (typeof snapshot === "boolean") throw new Error("A record can carry these values.");
  return snapshot;
}

/** Sends one result as a worker does. False: no room now. */
export function sendResult(endpoint: Endpoint, value: unknown, returns?: DeclaredValues): boolean {
  const { sized, snapshots } = endpoint;
  const bytes = returns === undefined ? sized.roomForOne(value) : UNSIZED;
  if (bytes !== UNSIZED) {
    return endpoint.sendSizedOne(bytes, RESULT_VALUE, SLOT, GENERATION, TASK, value);
  }
  const encoder = snapshots.codec.acquire();
  try {
    const end = snapshots.encodeResult(encoder, value, returns);
    return endpoint.announceKeyLists() &&
      endpoint.sendEncoded(encoder, end, RESULT, SLOT, GENERATION, TASK, 1);
  } finally {
    snapshots.codec.release(encoder);
  }
}

/** Sends `values` as a call does, and returns what the worker reads. */
export function send(pair: EndpointPair, values: readonly unknown[]): unknown[] {
  const outcome = sendCall(pair.host, values);
  if (outcome !== true) {
    const snapshot = outcome === false ? pair.snapshots.capture(values) : outcome;
    const isSent = sendHeldCall(pair.host, snapshot);
    // Key lists announced before it, and the padding in front of them, may have taken the room.
    if (!isSent) {
      takeKeyLists(pair);
      if (!sendHeldCall(pair.host, snapshot)) {
        throw new Error("No room in an empty ring.");
      }
    }
  }
  return receive(pair);
}

/** The values of the next call, after whatever key lists were announced before it. */
export function receive(pair: EndpointPair): unknown[] {
  takeKeyLists(pair);
  const { rx } = pair.worker;
  const index = rx.poll();
  if (index === EMPTY || !rx.acquire(index)) throw new Error("No record.");
  try {
    return pair.worker.readValues(index, rx.memory.i32[(index >> 2) + DESCRIPTOR_WORD]!);
  } finally {
    rx.release();
  }
}

/** Reads the KEY_LISTS records at the front of the worker's ring. */
function takeKeyLists(pair: EndpointPair): void {
  const { rx } = pair.worker;
  for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
    const what = rx.memory.i32[(index >> 2) + DESCRIPTOR_WORD]!;
    if (kindOf(what) !== KEY_LISTS) return;
    rx.acquire(index);
    pair.worker.receiveKeyLists(index, what);
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
    keyLists: undefined,
    sharedBuffers: new SharedBuffers(0),
    maxPayloadBytes: Infinity,
    allowsBorrow: true,
  });
  let at = encoder.begin();
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
