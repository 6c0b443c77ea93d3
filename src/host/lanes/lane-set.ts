/** The lanes of a pool, and the state of all of them together. */
import { Set } from "../../builtins.ts";
import type { Lane } from "./lane.ts";

/** No lane has calls. */
export const IDLE = 0;
/** No lane has answered, and no expected response is worth spinning for. */
export const SLEEP = 1;
/** No lane has answered, but an expected response is worth spinning for. */
export const SPIN = 2;
export const READY = 3;
export type WaitHint = typeof IDLE | typeof SLEEP | typeof SPIN | typeof READY;

export class LaneSet {
  /** Every lane that may have responses. */
  readonly all: Lane[] = [];
  /** Lanes that take calls: all but those that will close once they have answered. */
  readonly open: Lane[] = [];
  /** Lanes that have started and will be open when they are prepared. */
  readonly #preparing = new Set<Lane>();
  /** Lanes that were open and will be again: their workers wait for an answer of the host, with their threads. */
  readonly #suspended = new Set<Lane>();

  /** Adds a lane that takes no calls but those that prepare it, until `setOpen` is called. */
  add(lane: Lane): void {
    this.all.push(lane);
    this.#preparing.add(lane);
  }

  /** A lane takes calls from now on. False: it is gone. */
  setOpen(lane: Lane): boolean {
    if (!this.#preparing.delete(lane)) return false;
    this.open.push(lane);
    return true;
  }

  /** Whether a lane may get calls: it is open or is being prepared. */
  takesCalls(lane: Lane): boolean {
    return this.open.includes(lane) || this.#preparing.has(lane) || this.#suspended.has(lane);
  }

  /** Whether a lane has started, and is not open yet. */
  isPreparing(lane: Lane): boolean {
    return this.#preparing.has(lane);
  }

  /** How many are suspended. */
  get suspended(): number {
    return this.#suspended.size;
  }

  isSuspended(lane: Lane): boolean {
    return this.#suspended.has(lane);
  }

  /** An open lane gets no calls until `resume`. False: it is not open. */
  suspend(lane: Lane): boolean {
    if (!removeFrom(this.open, lane)) return false;
    this.#suspended.add(lane);
    return true;
  }

  /** False: it was retired or removed meanwhile, or not suspended. */
  resume(lane: Lane): boolean {
    if (!this.#suspended.delete(lane)) return false;
    this.open.push(lane);
    return true;
  }

  /** Removes a lane that is gone. */
  remove(lane: Lane): void {
    this.#preparing.delete(lane);
    this.#suspended.delete(lane);
    removeFrom(this.all, lane);
    removeFrom(this.open, lane);
  }

  /** The lane takes no further calls. False: it took none before. */
  retire(lane: Lane): boolean {
    return removeFrom(this.open, lane) || this.#suspended.delete(lane);
  }

  byId(id: number): Lane | undefined {
    return this.all.find((lane) => lane.id === id);
  }

  /** Whether any lane has a response. Lanes without calls are left out: see `findUnsolicited`. */
  get hasResponse(): boolean {
    const lanes = this.all;
    for (let index = 0; index < lanes.length; index++) {
      const lane = lanes[index]!;
      if (lane.load.outstanding > 0 && lane.endpoint.rx.hasRecord) return true;
    }
    return false;
  }

  /** Whether any lane has unanswered calls. */
  get isBusy(): boolean {
    const lanes = this.all;
    for (let index = 0; index < lanes.length; index++) {
      if (lanes[index]!.load.outstanding > 0) return true;
    }
    return false;
  }

  /** How many lanes have unanswered calls. */
  get busyCount(): number {
    return this.all.reduce((count, { load }) => load.outstanding > 0 ? count + 1 : count, 0);
  }

  /** The best state among all lanes, read in one pass. */
  waitHint(): WaitHint {
    const lanes = this.all;
    let waitHint: WaitHint = IDLE;
    for (let index = 0; index < lanes.length; index++) {
      const { load, endpoint } = lanes[index]!;
      if (load.outstanding === 0) continue;
      if (endpoint.rx.hasRecord) return READY;
      if (load.mayRespondSoon) waitHint = SPIN;
      else if (waitHint === IDLE) waitHint = SLEEP;
    }
    return waitHint;
  }

  /** Whether a call waits behind another that a second lane might run. */
  get isCrowded(): boolean {
    const lanes = this.open;
    if (lanes.length < 2) return false;
    for (let index = 0; index < lanes.length; index++) {
      if (lanes[index]!.load.outstanding > 1) return true;
    }
    return false;
  }

  /** Call between announcing a park and the second check: requests a wake when a lane can take calls. */
  requestSpace(): void {
    for (const lane of this.open) lane.requestSpace();
  }

  /** Lanes without calls that have sent a response. */
  findUnsolicited(): Lane[] {
    return this.all.filter(({ load, endpoint }) => load.outstanding === 0 && endpoint.rx.hasRecord);
  }

  /** Open lanes that have got as many calls as they should. */
  findDueForRecycling(recycleAfter: number): Lane[] {
    return this.open.filter(({ endpoint }) => endpoint.tx.sequence >= recycleAfter);
  }

  /** Lanes that have got as many calls as they may. */
  findAtLimit(maxCalls: number): Lane[] {
    return this.all.filter(({ load }) => load.sent >= maxCalls);
  }

  /** Lanes that take no further calls and have answered all they had. */
  findDrained(): Lane[] {
    if (this.open.length === this.all.length) return [];
    return this.all.filter((lane) => lane.load.outstanding === 0 && !this.takesCalls(lane));
  }
}

function removeFrom(lanes: Lane[], lane: Lane): boolean {
  const index = lanes.indexOf(lane);
  if (index >= 0) lanes.splice(index, 1);
  return index >= 0;
}
