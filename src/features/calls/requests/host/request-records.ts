/** Requests of workers that arrive among their responses. */
import { ProtocolError } from "../../../../errors.ts";
import { DESCRIPTOR_WORD, GENERATION_WORD, SLOT_WORD, TASK_WORD } from "../../../../lane/frame.ts";
import { unpackNumber } from "../messages.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { HostRequests } from "./host-requests.ts";

/** Reads and releases such a record. Runs no code of the program. */
export function takeRequest(requests: HostRequests, lane: Lane, index: number): void {
  const { endpoint } = lane;
  const { i32 } = endpoint.rx.memory;
  const word = index >> 2;
  const id = {
    slot: i32[word + SLOT_WORD]!,
    generation: i32[word + GENERATION_WORD]!,
    ...unpackNumber(i32[word + TASK_WORD]!),
  };
  endpoint.decoder.declared = undefined;
  let values: unknown[] = [];
  let failure: unknown;
  try {
    values = endpoint.readValues(index, i32[word + DESCRIPTOR_WORD]!);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    failure = error;
  }
  if (endpoint.rx.release()) lane.wakeForSpace();
  requests.onRecord(lane, id, values, failure);
}
