/** What the host asks of all its lanes, now and again while it waits. */
import type { LaneLoad } from "./lane-load.ts";
import type { Lane } from "./lane.ts";

/** Whether any lane has answered something. Lanes without calls are left out: see `findUnasked`. */
export function hasAnswer(lanes: readonly Lane[]): boolean {
  for (let index = 0; index < lanes.length; index++) {
    const lane = lanes[index]!;
    if (lane.load.outstanding > 0 && lane.endpoint.rx.hasRecord) return true;
  }
  return false;
}

/** Whether any lane has been given calls that it has not answered. */
export function isAnyBusy(lanes: readonly Lane[]): boolean {
  for (let index = 0; index < lanes.length; index++) {
    if (lanes[index]!.load.outstanding > 0) return true;
  }
  return false;
}

/** Nothing has been asked of any lane. */
export const IDLE = 0;
/** Nobody has answered, and no answer is worth spinning for. */
export const DISTANT = 1;
/** Nobody has answered, but one is worth spinning for. */
export const NEAR = 2;
export const ANSWERED = 3;
/**
 * Nobody has answered, and of the one worker that has calls an answer is worth spinning for, long as they are,
 * if no other worker can want the host's core: one that is being woken might have to wait for it for milliseconds.
 */
export const ALONE = 4;
export type Outlook =
  | typeof IDLE
  | typeof DISTANT
  | typeof NEAR
  | typeof ANSWERED
  | typeof ALONE;

/** All that a poll wants to know, by one look at each lane: the best of what they have. */
export function outlookOf(lanes: readonly Lane[]): Outlook {
  let outlook: Outlook = IDLE;
  let only: LaneLoad | undefined;
  for (let index = 0; index < lanes.length; index++) {
    const { load, endpoint } = lanes[index]!;
    if (load.outstanding === 0) continue;
    if (endpoint.rx.hasRecord) return ANSWERED;
    if (load.isNear) outlook = NEAR;
    else if (outlook === IDLE) {
      outlook = DISTANT;
      only = load;
    } else only = undefined;
  }
  return outlook === DISTANT && only !== undefined && only.isNearAlone ? ALONE : outlook;
}

/** Whether a call waits behind another. */
export function isAnyCrowded(lanes: readonly Lane[]): boolean {
  return lanes.some(({ load }) => load.outstanding > 1);
}

/** Whether a call waits behind a long one. */
export function isAnyBlocked(lanes: readonly Lane[]): boolean {
  return lanes.some(({ load }) => load.hasLong && load.outstanding > 1);
}

/** Lanes that have answered a call which they were not given. */
export function findUnasked(lanes: readonly Lane[]): Lane[] {
  return lanes.filter(({ load, endpoint }) => load.outstanding === 0 && endpoint.rx.hasRecord);
}

/** Lanes that take calls and have been given as many as they should. */
export function findWorn(open: readonly Lane[], recycleAfter: number): Lane[] {
  return open.filter(({ endpoint }) => endpoint.tx.sequence >= recycleAfter);
}

/** Lanes that take no further calls and have answered all they had. */
export function findSpent(lanes: readonly Lane[], open: readonly Lane[]): Lane[] {
  return lanes.filter((lane) => lane.load.outstanding === 0 && !open.includes(lane));
}

/** Takes a lane out. False: it was not there. */
export function remove(lanes: Lane[], lane: Lane): boolean {
  const index = lanes.indexOf(lane);
  if (index >= 0) lanes.splice(index, 1);
  return index >= 0;
}
