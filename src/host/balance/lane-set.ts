/** The lanes of a pool, and what the host asks of them all, now and again while it waits. */
import type { Lane } from "./lane.ts";

/** Nothing has been asked of any lane. */
export const IDLE = 0;
/** Nobody has answered, and no answer is worth spinning for. */
export const SLEEP = 1;
/** Nobody has answered, but one is worth spinning for. */
export const SPIN = 2;
export const READY = 3;
export type WaitHint = typeof IDLE | typeof SLEEP | typeof SPIN | typeof READY;

export class LaneSet {
  /** Every lane that may have answers. */
  readonly all: Lane[] = [];
  /** Those that take calls: all but the ones that are to be closed when they have answered. */
  readonly open: Lane[] = [];

  add(lane: Lane): void {
    this.all.push(lane);
    this.open.push(lane);
  }

  /** Takes a lane out that is gone. */
  remove(lane: Lane): void {
    removeFrom(this.all, lane);
    removeFrom(this.open, lane);
  }

  /** The lane takes no further calls. False: it did not before. */
  retire(lane: Lane): boolean {
    return removeFrom(this.open, lane);
  }

  byId(id: number): Lane | undefined {
    return this.all.find((lane) => lane.id === id);
  }

  /** Whether any lane has answered something. Lanes without calls are left out: see `findUnsolicited`. */
  get hasResponse(): boolean {
    const lanes = this.all;
    for (let index = 0; index < lanes.length; index++) {
      const lane = lanes[index]!;
      if (lane.load.outstanding > 0 && lane.endpoint.rx.hasRecord) return true;
    }
    return false;
  }

  /** Whether any lane has been given calls that it has not answered. */
  get isBusy(): boolean {
    const lanes = this.all;
    for (let index = 0; index < lanes.length; index++) {
      if (lanes[index]!.load.outstanding > 0) return true;
    }
    return false;
  }

  /** How many lanes have calls that they have not answered. */
  get busyCount(): number {
    return this.all.reduce((count, { load }) => load.outstanding > 0 ? count + 1 : count, 0);
  }

  /** All that a poll wants to know, by one look at each lane: the best of what they have. */
  waitHint(): WaitHint {
    const lanes = this.all;
    let waitHint: WaitHint = IDLE;
    for (let index = 0; index < lanes.length; index++) {
      const { load, endpoint } = lanes[index]!;
      if (load.outstanding === 0) continue;
      if (endpoint.rx.hasRecord) return READY;
      if (load.isNear) waitHint = SPIN;
      else if (waitHint === IDLE) waitHint = SLEEP;
    }
    return waitHint;
  }

  /** Whether a call waits behind another. */
  get isCrowded(): boolean {
    return this.open.length > 1 && this.open.some(({ load }) => load.outstanding > 1);
  }

  /** Whether a call waits behind a long one. */
  get isBlocked(): boolean {
    return this.open.some(({ load }) => load.hasLong && load.outstanding > 1);
  }

  /** Between announcing a park and looking again: asks to be woken when a lane can take calls. */
  askForSpace(): void {
    for (const lane of this.open) lane.askForSpace();
  }

  /** Lanes that have answered a call which they were not given. */
  findUnsolicited(): Lane[] {
    return this.all.filter(({ load, endpoint }) => load.outstanding === 0 && endpoint.rx.hasRecord);
  }

  /** Lanes that take calls and have been given as many as they should. */
  findDueForRecycling(recycleAfter: number): Lane[] {
    return this.open.filter(({ endpoint }) => endpoint.tx.sequence >= recycleAfter);
  }

  /** Lanes that have been sent as many calls as they may. */
  findUsedUp(maxCalls: number): Lane[] {
    return this.all.filter(({ load }) => load.sent >= maxCalls);
  }

  /** Lanes that take no further calls and have answered all they had. */
  findDrained(): Lane[] {
    if (this.open.length === this.all.length) return [];
    return this.all.filter((lane) => lane.load.outstanding === 0 && !this.open.includes(lane));
  }
}

function removeFrom(lanes: Lane[], lane: Lane): boolean {
  const index = lanes.indexOf(lane);
  if (index >= 0) lanes.splice(index, 1);
  return index >= 0;
}
