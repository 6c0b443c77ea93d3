/** Lanes without threads: real rings, loads and credits. The test plays the worker. */
import type { Endpoint } from "../../src/lane/endpoint.ts";
import { CALL_WITH_NUMBER, RESULT_NUMBER } from "../../src/lane/frame.ts";
import type { CallLoad } from "../../src/metering/task-timings.ts";
import { LaneLoad } from "../../src/host/lanes/lane-load.ts";
import type { Lane } from "../../src/host/lanes/lane.ts";
import { LaneSet } from "../../src/host/lanes/lane-set.ts";
import type { Phase } from "../../src/host/lanes/phase.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { PayloadCredit } from "../../src/host/lanes/payload-credit.ts";
import { EMPTY } from "../../src/ring/consumer.ts";
import { createEndpoints, type EndpointPair } from "./endpoints.ts";

/** The host's usual spin in these tests. */
export const SPIN_MS = 0.05;

export interface FakeLaneState {
  readonly id?: number;
  readonly isAwake?: boolean;
  readonly isResting?: boolean;
  readonly hasBacklog?: boolean;
  /** Bytes of each ring. */
  readonly capacity?: number;
}

export class FakeLane implements Lane {
  readonly id: number;
  readonly pair: EndpointPair;
  readonly endpoint: Endpoint;
  readonly access = currentRuntime;
  phase: Phase = "starting";
  readonly load: LaneLoad = new LaneLoad();
  readonly credit: PayloadCredit;
  isAwake: boolean;
  isResting: boolean;
  hasBacklog: boolean;
  /** Why it was failed, if it was. */
  failure: Error | undefined;
  wakes = 0;

  constructor(state: FakeLaneState = {}) {
    this.id = state.id ?? 0;
    this.isAwake = state.isAwake ?? true;
    this.isResting = state.isResting ?? false;
    this.hasBacklog = state.hasBacklog ?? false;
    this.pair = createEndpoints(state.capacity);
    this.endpoint = this.pair.host;
    this.credit = new PayloadCredit(this.endpoint.tx);
  }

  wake(_isAgain?: boolean): void {
    this.wakes++;
  }

  wakeForSpace(): void {}

  requestSpace(): void {}

  postStream(): boolean {
    return true;
  }
  postAnswer(): boolean {
    return true;
  }

  end(reason: string | Error): Promise<void> {
    if (reason instanceof Error) this.failure ??= reason;
    return Promise.resolve();
  }

  /** Counts `count` calls of this load; nothing is put into the ring. */
  give(load: CallLoad, count = 1): this {
    for (let call = 0; call < count; call++) this.load.add(load);
    return this;
  }

  /** The host sends a call with one number. Throws if there is no room. */
  send(load: CallLoad, slot = 0, generation = 0, value = 0): void {
    if (!this.endpoint.sendNumber(slot, generation, CALL_WITH_NUMBER, 0, value)) {
      throw new RangeError("The request ring is full.");
    }
    this.load.add(load);
  }

  /** The worker begins the oldest call, and passes revoked ones. False: there is none. */
  begin(): boolean {
    const { rx } = this.pair.worker;
    for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
      const isMine = rx.acquire(index);
      rx.release();
      if (isMine) return true;
    }
    return false;
  }

  /** The worker hands back the room of the records that it has begun or passed. */
  publish(): void {
    this.pair.worker.rx.publish();
  }

  /** The worker sends responses: numbers, to these slots. */
  respond(count = 1, slot = 0, generation = 0): void {
    for (let response = 0; response < count; response++) {
      if (!this.pair.worker.sendNumber(slot, generation, RESULT_NUMBER, 0, 0)) {
        throw new RangeError("The response ring is full.");
      }
    }
  }

  /** The host takes one response, and counts its call as answered. */
  takeResponse(load: CallLoad): void {
    const { rx } = this.endpoint;
    rx.verify(rx.poll());
    rx.release();
    this.load.remove(load);
  }
}

export function laneSetOf(lanes: readonly Lane[]): LaneSet {
  const set = new LaneSet();
  for (const lane of lanes) {
    set.move(lane, "preparing");
    set.move(lane, "open");
  }
  return set;
}
