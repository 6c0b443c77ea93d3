/**
 * Which lane a call goes to. `adaptive` is heddle's, by the rules of docs/internals/scheduling.md; the others are
 * what pools usually do, for comparison. All wait and spin alike.
 */
import type { Estimates } from "./call.ts";
import type { Knowledge, Lane } from "./lane.ts";

export type Choice = "adaptive" | "roundRobin" | "leastLoaded" | "firstIdle" | "randomLane";

export interface Policy {
  readonly choice: Choice;
  /** A lane that is awake takes more calls while its backlog stays below this. */
  readonly packLimitUs: number;
  /**
   * And a short call goes to a lane whose backlog is below so much for each awake worker, the time a
   * round of waking them takes: with less to do, lanes fall asleep before the round is over.
   */
  readonly packPerAwakeUs: number;
  /** Above this a call is long. */
  readonly longUs: number;
  /** Unanswered calls a lane may have when another long or unknown one is sent to it. */
  readonly depth: number;
  /**
   * A call is not sent behind one that takes longer than this and ten times as long as itself: it
   * waits on the host for whoever is free first.
   */
  readonly behindUs: number;
  /** Unanswered calls a lane may have when a short one is sent to it. */
  readonly maxAhead: number;
  readonly workerSpinUs: number;
  readonly hostSpinUs: number;
  /** Unstarted calls are moved to idle lanes. */
  readonly isStealing: boolean;
  /** How much of what was taken back one idle lane gets before the next one is woken; 0: one call. */
  readonly stealGrainUs: number;
  /** A short call overtakes long ones that wait on the host. */
  readonly isOvertaking: boolean;
  readonly knowledge: Knowledge;
  /** The lane chosen last is tried first, and only lanes that owe answers are polled. */
  readonly isSticky: boolean;
}

/** The policy as issue 4 words it. */
export const AS_WORDED: Policy = {
  choice: "adaptive",
  packLimitUs: 100,
  packPerAwakeUs: 0,
  longUs: 50,
  depth: 2,
  behindUs: Infinity,
  maxAhead: 1024,
  workerSpinUs: 50,
  hostSpinUs: 50,
  isStealing: true,
  stealGrainUs: 0,
  isOvertaking: false,
  knowledge: "settled",
  isSticky: false,
};

/** With what the model shows to be missing or too small; README.md says why. */
export const AMENDED: Policy = {
  ...AS_WORDED,
  packLimitUs: 50,
  packPerAwakeUs: 10,
  longUs: 100,
  behindUs: 1000,
  workerSpinUs: 100,
  stealGrainUs: 50,
  isOvertaking: true,
  knowledge: "answered",
  isSticky: true,
};

export interface Choosing {
  readonly policy: Policy;
  readonly lanes: readonly Lane[];
  readonly cores: number;
  readonly estimates: Estimates;
  readonly random: () => number;
}

/** Picks a lane for a call of this task, or none if it has to wait on the host. */
export interface Chooser {
  (task: number): Lane | undefined;
  /** Lanes looked at for the choice that comes next, as far as that can be told before. */
  looks(task: number): number;
}

const withLooks = (
  choose: (task: number) => Lane | undefined,
  looks: (task: number) => number,
): Chooser => Object.assign(choose, { looks });

export function createChooser(choosing: Choosing): Chooser {
  const { policy, lanes, random } = choosing;
  const hasRoom = (lane: Lane) => lane.unanswered < policy.maxAhead;
  const ifRoom = (lane: Lane) => hasRoom(lane) ? lane : undefined;
  let turn = 0;
  const all = () => lanes.length;
  const one = () => 1;
  switch (policy.choice) {
    case "adaptive":
      return adaptive(choosing);
    case "roundRobin":
      return withLooks(() => ifRoom(lanes[turn++ % lanes.length]!), one);
    case "randomLane":
      return withLooks(() => ifRoom(lanes[Math.floor(random() * lanes.length)]!), one);
    case "leastLoaded":
      return withLooks(() => ifRoom(fewest(lanes)), all);
    case "firstIdle":
      return withLooks(
        () => lanes.find(({ unanswered }) => unanswered === 0) ?? ifRoom(fewest(lanes)),
        all,
      );
  }
}

function fewest(lanes: readonly Lane[]): Lane {
  let best = lanes[0]!;
  for (const lane of lanes) if (lane.unanswered < best.unanswered) best = lane;
  return best;
}

function adaptive({ policy, lanes, cores, estimates }: Choosing): Chooser {
  const { packLimitUs, packPerAwakeUs, longUs, depth, behindUs } = policy;
  const { maxAhead, knowledge, isSticky } = policy;
  const spare = Math.max(cores - 1, 1);
  let last: Lane | undefined;
  const mayStay = (estimateUs: number) =>
    isSticky && last !== undefined && last.isAwake && last.pending(knowledge) < maxAhead &&
    last.backlogUs(estimates, knowledge) + estimateUs <= packLimitUs;

  const choose = (task: number): Lane | undefined => {
    const estimateUs = estimates.of(task) ?? Infinity;
    const isLong = estimateUs > longUs;
    if (mayStay(estimateUs)) return last;
    const limit = isLong ? depth : maxAhead;
    const aheadUs = Math.max(behindUs, 10 * estimateUs);
    let hot: Lane | undefined;
    let hotUs = Infinity;
    let idle: Lane | undefined;
    let least: Lane | undefined;
    let leastUs = Infinity;
    let busy = 0;
    let awake = 0;
    for (const lane of lanes) {
      const pending = lane.pending(knowledge);
      const us = lane.backlogUs(estimates, knowledge);
      if (pending > 0) busy++;
      else if (idle === undefined || (lane.isAwake && !idle.isAwake)) idle = lane;
      if (lane.isAwake) awake++;
      if (lane.isAwake && us < hotUs && pending < maxAhead) {
        hot = lane;
        hotUs = us;
      }
      if (pending >= limit) continue;
      if (us > behindUs && lane.longestUs(estimates) > aheadUs) continue;
      // Infinity for unknown calls: then the lane with fewer of them.
      const isTie = us === leastUs && least !== undefined;
      if (least === undefined || us < leastUs || (isTie && pending < least.pending(knowledge))) {
        least = lane;
        leastUs = us;
      }
    }
    const isRoundShort = !isLong && hotUs < awake * packPerAwakeUs;
    if (hot !== undefined && (isRoundShort || hotUs + estimateUs <= packLimitUs)) last = hot;
    else if (idle !== undefined && (isLong || busy < spare)) last = idle;
    else if (least !== undefined) last = least;
    else return undefined;
    return last;
  };
  return withLooks(choose, (task) => mayStay(estimates.of(task) ?? Infinity) ? 1 : lanes.length);
}
