/** Large arguments: how many of them are sent to a worker that takes none. */
import { expect, test } from "vitest";
import {
  type CallSettings,
  createSettings,
  PLAIN,
} from "../../../../../src/host/calls/call-settings.ts";
import { InFlight, QUEUED_ON_HOST } from "../../../../../src/host/calls/in-flight.ts";
import { PendingWork } from "../../../../../src/host/calls/pending-work.ts";
import { Sender } from "../../../../../src/host/dispatch/queue/sender.ts";
import { currentRuntime } from "../../../../../src/runtimes/current.ts";
import { FakeLane, laneSetOf } from "../../../../support/lanes.ts";

/** Of these, two fit into the 8 MiB that may be in messages. */
const BYTES = 3 * 2 ** 20;

/** A sender with one lane. `make`: a call with large arguments. `send` returns false: it must wait on the host. */
function createSender(canSteal: boolean) {
  const lane = new FakeLane({ id: 1 });
  const inFlight = new InFlight();
  const pending = new PendingWork();
  const sender = new Sender({
    inFlight,
    lanes: laneSetOf([lane]),
    pending,
    kinds: currentRuntime.kinds,
    onSettings: () => {},
    canSteal,
    maxCalls: Infinity,
    onLastCall: () => {},
    recover: () => {},
    failLane: () => {},
  });
  const make = (settings: CallSettings = PLAIN) => {
    const call = sender.begin(() => {}, () => {}, settings, 0);
    const { slot, generation } = call;
    const snapshot = lane.pair.snapshots.capture([new Uint8Array(BYTES)]);
    const queued = { slot, generation, task: 0, snapshot, priority: 0 };
    const send = (): boolean => sender.sendSnapshot(lane, queued, 0);
    return { call, send };
  };
  /** Numbers of messages and of calls that have reached the worker. */
  const sent = () => [lane.pair.toWorker.length, lane.load.outstanding];
  return { lane, make, sender, sent };
}

// Calls that may be stolen are not among them: they wait for an idle worker.
test.each([
  ["in a pool without stealing", false, PLAIN],
  ["of calls with a key", true, createSettings({ affinity: { key: "a" } })],
  ["of calls with retries", true, createSettings({ retries: 1 })],
])("large arguments %s do not pile up in a worker's port", (_, canSteal, settings) => {
  const { lane, make, sender, sent } = createSender(canSteal);
  for (let call = 0; call < 2; call++) expect(make(settings).send()).toBe(true);
  const third = make(settings);
  expect(third.send()).toBe(false);
  expect(sent()).toEqual([2, 2]);
  expect(third.call.lane).toBe(QUEUED_ON_HOST);
  sender.unmark(); // it is in the queue now
  lane.begin(); // the worker takes the message of the first
  expect(third.send()).toBe(true);
  expect(sent()).toEqual([3, 3]);
  expect(third.call.lane).toBe(lane.id);
});
