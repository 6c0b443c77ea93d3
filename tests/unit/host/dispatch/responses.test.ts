/** Responses that settle no call: those of orphaned calls, and stale records. */
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../../../src/errors.ts";
import { InFlight } from "../../../../src/host/calls/in-flight.ts";
import { Responses } from "../../../../src/host/dispatch/responses.ts";
import { GENERATION_WORD, SLOT_WORD } from "../../../../src/lane/frame.ts";
import { responseRing } from "../../../../src/lane/layout.ts";
import { ASYNC, type CallLoad, LONG, SHORT } from "../../../../src/metering/task-timings.ts";
import { TAIL_POSITION } from "../../../../src/ring/ring-layout.ts";
import { FakeLane } from "../../../support/lanes.ts";

const CAPACITY = 1024;
const load = (tenths: number, kind: number): CallLoad => ((tenths + 1) << 2) | kind;

/** A host with one lane, and the outcomes of its calls. */
function createHost() {
  const inFlight = new InFlight();
  const lane = new FakeLane({ capacity: CAPACITY });
  const responses = new Responses(inFlight, [], { onRecord: () => false });
  const outcomes: unknown[] = [];
  const settle = (outcome: unknown): void => void outcomes.push(outcome);
  /** The worker begins a call of this load. */
  const run = (callLoad: CallLoad) => {
    const call = inFlight.add(settle, settle);
    call.lane = lane.id;
    call.load = callLoad;
    const { slot, generation } = call;
    lane.send(callLoad, slot, generation);
    lane.begin();
    lane.publish();
    return { call, respond: () => lane.respond(1, slot, generation) };
  };
  /** The worker begins a call of this load, which is aborted. */
  const orphan = (callLoad: CallLoad) => {
    const { call, respond } = run(callLoad);
    const limits = { killAtMs: Infinity, limitMs: undefined };
    lane.load.orphaned.add(call.slot, call.generation, { load: callLoad, ...limits });
    inFlight.reject(call, "aborted");
    return { respond };
  };
  return { lane, orphan, outcomes, responses, run };
}

describe("the response of a call that was aborted", () => {
  test("frees its worker", () => {
    const { lane, orphan, outcomes, responses } = createHost();
    const { respond } = orphan(load(9000, LONG));
    expect(lane.load.outstanding).toBe(1);
    respond();
    expect(responses.take(lane, 10)).toBe(1);
    expect([lane.load.outstanding, lane.load.orphaned.size]).toEqual([0, 0]);
    expect([responses.late, outcomes]).toEqual([1, ["aborted"]]);
  });

  test("takes its load off its worker, and leaves that of the others", () => {
    const { lane, orphan, responses, run } = createHost();
    run(load(50, ASYNC));
    const { respond } = orphan(load(9000, LONG));
    respond();
    responses.take(lane, 10);
    const { async, backlog, long, outstanding } = lane.load;
    expect({ async, backlog, long, outstanding }).toEqual({
      async: 1,
      backlog: 50,
      long: 0,
      outstanding: 1,
    });
  });
});

test("a stale record is not taken for a response", () => {
  const { lane, outcomes, responses, run } = createHost();
  const { rx } = lane.endpoint;
  const { i32, u8 } = rx.memory;
  const begin = rx.headPosition;
  run(load(50, SHORT)).respond();
  expect(responses.take(lane, 10)).toBe(1);
  const end = rx.headPosition;
  const { call } = run(load(50, SHORT));
  // The bytes of the first response are published once more, for the call that waits.
  i32[(begin >> 2) + SLOT_WORD] = call.slot;
  i32[(begin >> 2) + GENERATION_WORD] = call.generation;
  u8.copyWithin(end, begin, end);
  const header = new Int32Array(lane.pair.lane, responseRing(CAPACITY));
  Atomics.add(header, TAIL_POSITION, end - begin);
  const damaged: [number, Error][] = [];
  expect(responses.takeFrom([lane], 10, ({ id }, error) => damaged.push([id, error]))).toBe(0);
  expect(damaged).toEqual([[lane.id, expect.any(ProtocolError)]]);
  expect([outcomes, lane.load.outstanding]).toEqual([[0], 1]);
});
