/** The lanes of a pool, their phases, and the state of all of them together. */
import type { Lane } from "./lane.ts";
import { NEXT, type Phase } from "./phase.ts";

/** No lane has calls. */
export const IDLE = 0;
/** No lane has answered, and no expected response is worth spinning for. */
export const SLEEP = 1;
/** No lane has answered, but an expected response is worth spinning for. */
export const SPIN = 2;
export const READY = 3;
export type WaitHint = typeof IDLE | typeof SLEEP | typeof SPIN | typeof READY;

/** Hears of each phase that a lane leaves, when it is in the next. */
export type PhaseListener = (lane: Lane, from: Phase) => void;

export class LaneSet {
  /** Lanes whose rings the host reads: those that have started, until they end. */
  readonly all: Lane[] = [];
  /** Lanes that are open: calls go to these. */
  readonly open: Lane[] = [];
  /** The first worker that starts, while none is ready (`dispatch/early-start.ts`). */
  starting: Lane | undefined = undefined;
  /** Undefined: nobody listens. */
  #listeners: PhaseListener[] | undefined;

  /** `listener` hears of all lanes from now on. */
  watch(listener: PhaseListener): void {
    (this.#listeners ??= []).push(listener);
  }

  /** Moves a lane to its next phase. False: that cannot follow the phase in which it is. */
  move(lane: Lane, to: Phase): boolean {
    const from = lane.phase;
    if (!NEXT[from].includes(to)) return false;
    lane.phase = to;
    if (from === "starting" && this.starting === lane) this.starting = undefined;
    if (from === "open") removeFrom(this.open, lane);
    if (to === "open") this.open.push(lane);
    else if (to === "preparing") this.all.push(lane);
    else if (to === "gone") removeFrom(this.all, lane);
    if (this.#listeners !== undefined) {
      for (const listener of this.#listeners) listener(lane, from);
    }
    return true;
  }

  /** The host reads its rings no more. */
  ignore(lane: Lane): void {
    removeFrom(this.all, lane);
  }

  /** Lanes that may have calls. */
  get withCalls(): readonly Lane[] {
    return this.starting === undefined ? this.all.slice() : [...this.all, this.starting];
  }

  /** How many are suspended. */
  get suspended(): number {
    return this.all.reduce((count, { phase }) => phase === "suspended" ? count + 1 : count, 0);
  }

  byId(id: number): Lane | undefined {
    if (this.starting?.id === id) return this.starting;
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

  /** Lanes that drain and have answered all calls they had. */
  findDrained(): Lane[] {
    if (this.open.length === this.all.length) return [];
    return this.all.filter(({ load, phase }) => load.outstanding === 0 && phase === "draining");
  }
}

function removeFrom(lanes: Lane[], lane: Lane): boolean {
  const index = lanes.indexOf(lane);
  if (index >= 0) lanes.splice(index, 1);
  return index >= 0;
}
