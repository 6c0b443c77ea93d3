/**
 * Calls that end on the host while a worker completes them: by an abort, a timeout, the death of the worker,
 * the closing of the pool. The real slab, endings, answers and work stealing against a worker that acquires, runs and
 * answers; each call must settle once and run at most once, and what the host counts must come to nothing.
 */
import type { PoolParts } from "../../src/api/pool/parts.ts";
import type { Codec } from "../../src/codec/codec.ts";
import { Endpoint } from "../../src/lane/endpoint.ts";
import {
  CALL_WITH_NUMBER,
  FRAME_BYTES,
  GENERATION_WORD,
  RESULT_NUMBER,
  SLOT_WORD,
} from "../../src/lane/frame.ts";
import { MAX_RESPONSES, Responses } from "../../src/host/dispatch/responses.ts";
import { createSettings, type GivenSettings } from "../../src/host/calls/call-settings.ts";
import { Cancellation } from "../../src/features/calls/limits/host/cancellation.ts";
import { InFlight, type PendingCall } from "../../src/host/calls/in-flight.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Lane } from "../../src/host/lanes/lane.ts";
import { LaneLoad } from "../../src/host/lanes/lane-load.ts";
import { LaneSet } from "../../src/host/lanes/lane-set.ts";
import { PayloadCredit } from "../../src/host/lanes/payload-credit.ts";
import { Revocation } from "../../src/host/schedule/revocation.ts";
import { BLOCKED, Parker, RUNNING, Waker } from "../../src/sync/worker-parking.ts";
import type { RingProducer } from "../../src/ring/producer.ts";
import { QUEUED, revokedState, STATE_MASK, stateSlot } from "../../src/ring/record-layout.ts";
import { ringBytes } from "../../src/ring/ring-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";
import { createCodec } from "../support/endpoints.ts";
import type { Revoke, Scenario } from "./scenarios.ts";

/** Words in front of the rings: by call, how often it ran (worker) and settled, and how (host). */
const RUNS = 0;
const SETTLED = 8;
const OUTCOMES = 16;
const OUTSTANDING = 24;
const LATE = 25;
const PARKED = 26;
const CLOSING = 27;
const CONTROL_BYTES = 256;
const CAPACITY = 1024;
const REQUESTS = CONTROL_BYTES;
const RESPONSES = REQUESTS + ringBytes(CAPACITY);
const BYTES = RESPONSES + ringBytes(CAPACITY);
const CALLS = 2;

/** Values of OUTCOMES. */
const READY = 1;
const ENDED = 2;
const QUEUED_AGAIN = 3;

type Words = Int32Array<SharedArrayBuffer>;
const words = (memory: SharedArrayBuffer): Words => new Int32Array(memory, 0, CONTROL_BYTES / 4);
const spin = () => (Atomics as unknown as { pause(): void }).pause();
const noTimer = { ref: () => {}, unref: () => {}, clear: () => {} };
const noPort = { post: () => {}, receive: () => undefined, close: () => {} };

let codec: Codec | undefined;

function attach(memory: SharedArrayBuffer, out: number, into: number): Endpoint {
  return new Endpoint(
    SpscRing.attach(memory, out).takeProducer(),
    SpscRing.attach(memory, into).takeConsumer(),
    codec ??= createCodec(0),
    noPort,
  );
}

/** The host's side of two calls that have been sent to one lane. */
class Host {
  readonly inFlight = new InFlight();
  readonly answers = new Responses(this.inFlight, [undefined], { onRecord: () => false });
  readonly lanes = new LaneSet();
  readonly calls: PendingCall[] = [];
  readonly cancellation: Cancellation;
  /** The time, and the next check of limits. */
  nowMs = 0;
  look: (() => void) | undefined;
  readonly #control: Words;

  constructor(memory: SharedArrayBuffer, settings: GivenSettings = {}) {
    const control = this.#control = words(memory);
    const endpoint = attach(memory, REQUESTS, RESPONSES);
    const lane: Lane = {
      id: 7,
      phase: "starting",
      access: currentRuntime,
      endpoint,
      load: new LaneLoad(),
      credit: new PayloadCredit(endpoint.tx),
      isAwake: true,
      isResting: false,
      hasBacklog: false,
      wake: () => {},
      wakeForSpace: () => {},
      requestSpace: () => {},
      postAnswer: () => true,
      postStream: () => true,
      end: () => Promise.resolve(),
    };
    this.lanes.move(lane, "preparing");
    this.lanes.move(lane, "open");
    this.cancellation = new Cancellation({
      startData: { limits: new SharedArrayBuffer(64) },
      dispatcher: { inFlight: this.inFlight, lanes: this.lanes },
      loop: { kick: () => {} },
      spec: {
        options: { hardTimeoutMs: Infinity },
        runtime: {
          now: () => this.nowMs,
          setTimeout: (callback: () => void) => {
            this.look = callback;
            return { ...noTimer, clear: () => this.look = undefined };
          },
        },
      },
      supervisor: {},
      takeResponses: () => void this.answers.take(this.lane, MAX_RESPONSES),
    } as unknown as PoolParts);
    const given = createSettings({ killAfterMs: 1, ...settings });
    for (let n = 0; n < CALLS; n++) {
      const settle = (outcome: number) => (): void => {
        Atomics.add(control, SETTLED + n, 1);
        control[OUTCOMES + n] = outcome;
      };
      const call = this.inFlight.add(settle(READY), settle(ENDED), given);
      call.lane = lane.id;
      endpoint.sendNumber(call.slot, call.generation, CALL_WITH_NUMBER, 0, n);
      call.position = endpoint.tx.position;
      lane.load.add(call.load);
      this.calls.push(call);
    }
  }

  get lane(): Lane {
    return this.lanes.all[0]!;
  }

  /** Takes answers until every call is settled, and the worker goes on with none. */
  finish(): void {
    while (this.inFlight.size > 0 || this.lane.load.orphaned.size > 0) {
      if (this.answers.take(this.lane, MAX_RESPONSES) === 0) spin();
    }
    this.count();
  }

  count(): void {
    this.#control[OUTSTANDING] = this.lane.load.outstanding;
    this.#control[LATE] = this.answers.late;
  }
}

/** A worker that runs the calls it gets, and is done when it has seen them all. */
function work(memory: SharedArrayBuffer): void {
  const control = words(memory);
  const endpoint = attach(memory, RESPONSES, REQUESTS);
  for (let seen = 0; seen < CALLS; seen++) {
    let index = endpoint.rx.poll();
    while (index < 0) {
      spin();
      index = endpoint.rx.poll();
    }
    runOne(endpoint, control, index);
  }
}

function runOne(endpoint: Endpoint, control: Words, index: number): void {
  const { rx } = endpoint;
  const { i32, f64 } = rx.memory;
  if (!rx.acquire(index)) {
    rx.release();
    return;
  }
  const slot = i32[(index >> 2) + SLOT_WORD]!;
  const generation = i32[(index >> 2) + GENERATION_WORD]!;
  const n = f64[(index + FRAME_BYTES) >> 3]!;
  rx.release();
  control[RUNS + n]!++;
  endpoint.sendNumber(slot, generation, RESULT_NUMBER, 0, n);
}

const ending = (host: (memory: SharedArrayBuffer) => void): Scenario => ({
  bytes: BYTES,
  reset(memory) {
    SpscRing.create(memory, REQUESTS, CAPACITY);
    SpscRing.create(memory, RESPONSES, CAPACITY);
  },
  threads: [host, work],
  check(memory) {
    const control = words(memory);
    let late = 0;
    for (let n = 0; n < CALLS; n++) {
      const runs = control[RUNS + n]!;
      const outcome = control[OUTCOMES + n]!;
      if (control[SETTLED + n] !== 1) {
        return `lost: call ${n} settled ${control[SETTLED + n]} times`;
      }
      if (runs > 1) return `lost or run twice: call ${n} ran ${runs} times`;
      if (outcome === READY && runs !== 1) return `lost: call ${n} was answered without a run`;
      if (outcome === QUEUED_AGAIN && runs !== 0) return `lost or run twice: call ${n} ran`;
      if (outcome === ENDED) late += runs;
    }
    if (control[OUTSTANDING] !== 0) return `lost: ${control[OUTSTANDING]} calls outstanding`;
    return control[LATE] === late ? undefined : `lost: ${control[LATE]} late answers, not ${late}`;
  },
});

/** By a timekeeper whose looks are made by hand, one after the other. */
function timeOut(memory: SharedArrayBuffer): void {
  const host = new Host(memory, { runTimeoutMs: 50 });
  const { deadlines } = host.cancellation;
  deadlines.watch(1);
  for (let looks = 0; looks < 3; looks++) {
    host.look?.();
    host.nowMs += 60;
  }
  deadlines.stop();
  host.finish();
}

/**
 * The host takes the worker for dead and settles what it had, as at its exit, while the worker goes on: harsher than
 * a death, and what a thread that cannot be stopped does.
 */
function kill(memory: SharedArrayBuffer, revoke?: Revoke): void {
  const host = new Host(memory);
  const { lane, inFlight, answers } = host;
  if (revoke !== undefined) lane.endpoint.tx.revoke = (index) => revoke(lane.endpoint.tx, index);
  const control = words(memory);
  const revocation = new Revocation({
    inFlight,
    putBack: (calls) => {
      for (const { slot, generation } of calls) {
        const call = inFlight.find(slot, generation)!;
        const n = host.calls.indexOf(call);
        inFlight.resolve(call, undefined);
        control[OUTCOMES + n] = QUEUED_AGAIN;
      }
    },
    failLane: (_lane, error) => {
      throw error;
    },
  });
  answers.take(lane, MAX_RESPONSES);
  revocation.requeue(lane);
  lane.load.clear();
  for (const call of inFlight.callsOf(lane.id)) inFlight.reject(call, "lost");
  host.count();
  // What the worker answers from now on is in a ring that nobody reads.
  for (let n = 0; n < CALLS; n++) {
    if (control[OUTCOMES + n] === ENDED) { while (Atomics.load(control, RUNS + n) === 0) spin(); }
  }
  control[LATE] = host.calls.filter((_, n) => control[OUTCOMES + n] === ENDED).length;
}

/**
 * The host sends a call and closes the lane: the worker runs it and leaves. `isAnnounced`: whether it looks at
 * the closing word after announcing a park; `looksBeforeLeaving`: at the ring after it has seen that word.
 */
function closing(isAnnounced: boolean, looksBeforeLeaving: boolean): Scenario {
  return {
    bytes: BYTES,
    reset: (memory) => void SpscRing.create(memory, REQUESTS, CAPACITY),
    threads: [
      (memory) => {
        const control = words(memory);
        const producer = SpscRing.attach(memory, REQUESTS).takeProducer();
        const waker = new Waker(control, PARKED, () => {});
        producer.commit(producer.claim(16) + 16);
        waker.wake();
        Atomics.store(control, CLOSING, 1);
        waker.wake();
      },
      (memory) => {
        const control = words(memory);
        const consumer = SpscRing.attach(memory, REQUESTS).takeConsumer();
        const parker = new Parker(control, PARKED);
        const isClosing = (): boolean => Atomics.load(control, CLOSING) === 1;
        for (;;) {
          const index = consumer.poll();
          if (index >= 0) {
            if (consumer.acquire(index)) control[RUNS]!++;
            consumer.release();
            continue;
          }
          if (isClosing()) {
            if (looksBeforeLeaving && consumer.hasRecord) continue;
            return;
          }
          parker.announce(BLOCKED);
          // As in the worker loop: both are looked at again once the park is announced.
          if (consumer.hasRecord || (isAnnounced && isClosing())) parker.cancel(BLOCKED);
          else parker.block(Infinity);
        }
      },
    ],
    check(memory) {
      const control = words(memory);
      if (control[PARKED] !== RUNNING) return "lost: the worker left parked";
      return control[RUNS] === 1 ? undefined : `lost: the call ran ${control[RUNS]} times`;
    },
  };
}

/** Takes a record back as if nobody else could be at it. */
function revokeByStore(producer: RingProducer, index: number): boolean {
  const { i32 } = producer.memory;
  const state = Atomics.load(i32, stateSlot(index));
  if ((state & STATE_MASK) !== QUEUED) return false;
  Atomics.store(i32, stateSlot(index), revokedState(state));
  return true;
}

export const endingsScenarios: Readonly<Record<string, Scenario>> = {
  "aborted or completed": ending((memory) => {
    const host = new Host(memory);
    host.cancellation.abort(host.calls[1]!, "enough");
    host.cancellation.abort(host.calls[0]!, "enough");
    host.finish();
  }),
  "timed out or completed": ending(timeOut),
  "killed or completed": ending((memory) => kill(memory)),
  "closed or submitted": closing(true, true),
  "broken: aborted without an exchange": ending((memory) => {
    const host = new Host(memory);
    const { tx } = host.lane.endpoint;
    tx.revoke = (index) => revokeByStore(tx, index);
    host.cancellation.abort(host.calls[1]!, "enough");
    host.finish();
  }),
  "broken: killed without an exchange": ending((memory) => kill(memory, revokeByStore)),
  "broken: closing is not looked at after announcing": closing(false, true),
  "broken: the ring is not looked at before leaving": closing(true, false),
};
