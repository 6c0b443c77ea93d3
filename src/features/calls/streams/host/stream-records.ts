/** Records that do not end their call: its stream opens, or items or events arrive. */
import { ProtocolError } from "../../../../errors.ts";
import {
  DESCRIPTOR_WORD,
  EVENTS,
  GENERATION_WORD,
  kindOf,
  OPENED,
  SLOT_WORD,
  TASK_WORD,
} from "../../../../lane/frame.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { StreamCalls } from "./stream-calls.ts";

/** Items that count as one more response. */
const ITEMS_PER_RESPONSE = 16;

/** Reads and releases such a record. `call`: undefined if it is over. */
export function takeItems(
  streams: StreamCalls,
  responses: { taken: number },
  lane: Lane,
  index: number,
  call: PendingCall | undefined,
): void {
  const { endpoint } = lane;
  const { i32 } = endpoint.rx.memory;
  const word = index >> 2;
  const kind = kindOf(i32[word + DESCRIPTOR_WORD]!);
  const slot = i32[word + SLOT_WORD]!;
  const generation = i32[word + GENERATION_WORD]!;
  const bytes = i32[word + TASK_WORD]!;
  let values: readonly unknown[] = [];
  let failure: { readonly error: unknown } | undefined;
  if (call === undefined) endpoint.discard(index);
  else {
    endpoint.decoder.declared = undefined;
    try {
      values = endpoint.readValues(index, i32[word + DESCRIPTOR_WORD]!);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      failure = { error };
    }
  }
  if (endpoint.rx.release()) lane.wakeForSpace();
  if (call === undefined) {
    if (kind === OPENED) streams.refuse(lane, slot, generation);
  } else if (failure !== undefined) streams.fail(call, failure.error);
  else if (kind === EVENTS) call.extra?.onEvents?.(values);
  else if (kind === OPENED) {
    const [isReadable, highWaterMark] = values[0] as [boolean, number];
    streams.open(call, isReadable, highWaterMark);
  } else {
    streams.items += values.length;
    responses.taken += Math.floor(values.length / ITEMS_PER_RESPONSE);
    call.extra?.stream?.onItems(values, bytes);
  }
}
