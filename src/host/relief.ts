/**
 * Finds calls that wait behind others in one lane while another has nothing to do. The host looks when
 * answers have come, and before it goes to sleep.
 */
import type { HeldOf, TakenBack } from "../endpoint/taken-back.ts";
import type { Lane } from "./lane.ts";
import { backlogOf, isFree, type Worth } from "./placement.ts";

/** Answers are coming: only what is known to last is worth moving. */
export const AT_EASE = 0;
/**
 * No answer has come for as long as the host would spin, or for a millisecond where another worker would have no core:
 * whatever waits behind something is moved.
 */
export const STUCK = 1;
/** Nothing has moved for a long time: also calls of a worker that has not begun any. */
export const OVERDUE = 2;
export type Urgency = typeof AT_EASE | typeof STUCK | typeof OVERDUE;

/** Waiting calls that are looked at, the oldest, and half as many taken: a ring may hold very many. */
const MOST_LOOKED_AT = 2048;

/** What came of looking for relief. */
export const NOTHING = 0;
export const MOVED = 1;
/** Calls wait in a worker that has not begun any: look again soon. */
export const UNDECIDED = 2;
export type ReliefOutcome = typeof NOTHING | typeof MOVED | typeof UNDECIDED;

/** A lane that has nothing to do, and those with calls that may wait, the most loaded first. */
export interface Relief {
  readonly to: Lane;
  readonly from: readonly Lane[];
}

export function findRelief(
  lanes: readonly Lane[],
  urgency: Urgency,
  worth: Worth,
): Relief | undefined {
  const to = findFree(lanes);
  const from = to && findLoaded(lanes, to, urgency, worth);
  return to && from!.length > 0 ? { to, from: from! } : undefined;
}

/** Moves calls of the first lane that has some to spare. */
export function tryRelief<Taken>(
  { from, to }: Relief,
  take: (from: Lane) => readonly Taken[] | undefined,
  give: (to: Lane, calls: readonly Taken[]) => void,
): ReliefOutcome {
  let outcome: ReliefOutcome = NOTHING;
  for (const lane of from) {
    const calls = take(lane);
    if (calls === undefined) outcome = UNDECIDED;
    else if (calls.length > 0) {
      give(to, calls);
      return MOVED;
    }
  }
  return outcome;
}

/**
 * Takes those calls of `from` back that another worker should run, oldest first. Undefined: none has
 * been begun, so the worker is probably just waking up, and will be there sooner than another.
 */
export function takeCalls(
  from: Lane,
  urgency: Urgency,
  heldOf: HeldOf,
): TakenBack[] | undefined {
  const waiting = from.endpoint.unbegunCalls(MOST_LOOKED_AT);
  // With more calls than are looked at there is enough to do for both, even if the worker is just waking up.
  const hasBegun = waiting.length < from.load.outstanding;
  if (!hasBegun && urgency !== OVERDUE) return undefined;
  // Behind a long one nothing should wait; otherwise each gets a half, and the older calls stay.
  const isBlocked = from.load.hasLong || urgency !== AT_EASE;
  const first = isBlocked ? 0 : waiting.length - (waiting.length >> 1);
  return takeBack(from, waiting.slice(first, first + MOST_LOOKED_AT / 2), heldOf);
}

/** Takes all calls of `from` back that its worker has not begun, oldest first. */
export function takeAll(from: Lane, heldOf: HeldOf): TakenBack[] {
  return takeBack(from, from.endpoint.unbegunCalls(), heldOf);
}

function takeBack(from: Lane, indices: readonly number[], heldOf: HeldOf): TakenBack[] {
  const taken: TakenBack[] = [];
  for (const index of indices) {
    const call = from.endpoint.takeBack(index, heldOf);
    if (call !== undefined) taken.push(call);
  }
  return taken;
}

/** A lane that has nothing to do, one whose worker is awake if there is one. */
function findFree(lanes: readonly Lane[]): Lane | undefined {
  let free: Lane | undefined;
  for (const lane of lanes) {
    if (!isFree(lane)) continue;
    if (lane.isAwake) return lane;
    free ??= lane;
  }
  return free;
}

function findLoaded(
  lanes: readonly Lane[],
  to: Lane,
  urgency: Urgency,
  worth: Worth,
): Lane[] {
  const most = urgency !== AT_EASE ? -1 : to.isAwake ? worth.sharesFrom : worth.wakesFrom;
  const least = urgency === OVERDUE ? 1 : 2;
  const loaded: [number, Lane][] = [];
  for (const lane of lanes) {
    const { load } = lane;
    if (lane === to || load.outstanding < least) continue;
    const backlog = load.hasLong ? Infinity : backlogOf(lane);
    if (backlog > most) loaded.push([backlog, lane]);
  }
  if (loaded.length > 1) loaded.sort(([one], [other]) => one === other ? 0 : other - one);
  return loaded.map(([, lane]) => lane);
}
