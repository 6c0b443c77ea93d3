/** Batches of a stream in the backlog of a worker's responses. */
import { expect, test } from "vitest";
import {
  DESCRIPTOR_WORD,
  EVENTS,
  ITEMS,
  kindOf,
  RESULT,
  SLOT_WORD,
  THROWN,
} from "../../../src/lane/frame.ts";
import { ItemBatch } from "../../../src/features/calls/streams/item-batch.ts";
import {
  HOST_CONTROL_BYTES,
  HOST_PARKED_WORD,
  REQUEST_SPACE,
  WANTS_SPACE,
} from "../../../src/lane/layout.ts";
import { transfer } from "../../../src/mod-task.ts";
import { EMPTY } from "../../../src/ring/consumer.ts";
import { HostWaker } from "../../../src/sync/host-parking.ts";
import { SpaceFlag } from "../../../src/sync/space-flag.ts";
import { Replies } from "../../../src/worker/replies.ts";
import { createEndpoints, type EndpointPair } from "../../support/endpoints.ts";

const [STREAM, FILLER, OTHER] = [1, 2, 3];

function createReplies({ worker, control }: EndpointPair): Replies {
  const host = new Int32Array(new SharedArrayBuffer(HOST_CONTROL_BYTES));
  return new Replies(
    worker,
    new HostWaker(host, HOST_PARKED_WORD, () => {}),
    new SpaceFlag(control, WANTS_SPACE),
    new SpaceFlag(control, REQUEST_SPACE),
    control,
  );
}

/** Takes all responses: the slots and kinds of those that do not only fill the ring. */
function drain({ host }: EndpointPair): [number, number][] {
  const taken: [number, number][] = [];
  for (let index = host.rx.poll(); index !== EMPTY; index = host.rx.poll()) {
    const { i32 } = host.rx.memory;
    const slot = i32[(index >> 2) + SLOT_WORD]!;
    if (slot !== FILLER) taken.push([slot, kindOf(i32[(index >> 2) + DESCRIPTOR_WORD]!)]);
    host.discard(index);
    host.rx.release();
    host.rx.publish();
  }
  return taken;
}

/** Sends three batches, of which the port refuses the second, and a result: what arrives. */
function refuseSecond(kind: typeof ITEMS | typeof EVENTS, isOptional: boolean): [number, number][] {
  const pair = createEndpoints(4096);
  const replies = createReplies(pair);
  while (replies.waiting === 0) replies.result(FILLER, 0, "x".repeat(100));
  const batch = new ItemBatch(pair.worker.snapshots);
  let refusals = 0;
  for (const item of [1, transfer(new ArrayBuffer(8)), 2]) {
    const onRefused = () => void refusals++;
    const word = batch.add(item);
    const { encoder, end, count } = batch;
    replies.write(encoder, end, count, kind, STREAM, 0, word, { isOptional, onRefused });
    batch.clear();
  }
  replies.result(OTHER, 0, "other");
  pair.onPost = () => {
    pair.onPost = () => {}; // the error that replaces the batch may be large
    throw new Error("refused");
  };
  const taken = drain(pair);
  while (!replies.flush()) taken.push(...drain(pair));
  taken.push(...drain(pair));
  expect(refusals).toBe(1);
  return taken;
}

test("a batch that the port refuses takes no other response with it", () => {
  const expected = [[STREAM, ITEMS], [STREAM, THROWN], [OTHER, RESULT]];
  expect(refuseSecond(ITEMS, false)).toEqual(expected);
});

test("what is optional is left out alone if the port refuses it", () => {
  const expected = [[STREAM, EVENTS], [STREAM, EVENTS], [OTHER, RESULT]];
  expect(refuseSecond(EVENTS, true)).toEqual(expected);
});
