/** Alternatives to `placement.ts`, chosen by options. They never steal calls, and only balancer functions see
 * estimated run times. */
import type { CallLoad } from "../../../metering/task-timings.ts";
import { PER_US } from "../../../metering/task-timings.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import type { InFlightWindow } from "../../../host/lanes/in-flight-window.ts";
import { isFree, type LaneChooser } from "../../../host/schedule/placement.ts";

/** A worker as a user-defined balancer sees it. */
export interface WorkerLoad {
  /** Number of the worker within its pool; replacements get new numbers. */
  readonly workerId: number;
  /** Calls sent to it and not answered yet. */
  readonly outstanding: number;
  /** Estimated time to run them, in milliseconds. */
  readonly backlogMs: number;
}

/** Chooses one of `workers` by its index. Undefined: none of them; the call waits on the host. */
export type BalancerFunction = (workers: readonly WorkerLoad[]) => number | undefined;

/** Names of the built-in balancers; the option `balancer` describes them. */
export type BalancerName =
  | "adaptive"
  | "roundRobin"
  | "firstIdle"
  | "randomLane"
  | "firstIdleOrRandom"
  | "leastLoaded"
  | "fifo";

/** Chooses among lanes that may take another call. Undefined: none of them. */
type Choose = (lanes: readonly Lane[]) => Lane | undefined;

function fewest(lanes: readonly Lane[]): Lane | undefined {
  let best: Lane | undefined;
  for (const lane of lanes) {
    if (best === undefined || lane.load.outstanding < best.load.outstanding) best = lane;
  }
  return best;
}

const random: Choose = (lanes) => lanes[Math.floor(Math.random() * lanes.length)];

/** Sends each call to the next higher lane id than that of the previous call, or to the lowest id. */
function roundRobin(): Choose {
  let lastId = -1;
  return (lanes) => {
    // `lanes` is in the order in which workers became ready, so sort by id.
    const inOrder = [...lanes].sort((a, b) => a.id - b.id);
    const next = inOrder.find(({ id }) => id > lastId) ?? inOrder[0];
    if (next !== undefined) lastId = next.id;
    return next;
  };
}

function byFunction(balancer: BalancerFunction): Choose {
  return (lanes) => {
    const index = balancer(lanes.map(({ id, load }) => ({
      workerId: id,
      outstanding: load.outstanding,
      backlogMs: Math.max(0, load.backlog / (1000 * PER_US)),
    })));
    if (index === undefined) return undefined;
    const lane = Number.isInteger(index) ? lanes[index] : undefined;
    if (lane !== undefined) return lane;
    throw new InvalidArgumentError(
      `The balancer must return an integer from 0 to ${lanes.length - 1} or undefined, got ${
        String(index)
      }.`,
    );
  };
}

const BY_NAME: Readonly<Record<Exclude<BalancerName, "adaptive" | "fifo">, () => Choose>> = {
  roundRobin,
  firstIdle: () => (lanes) => lanes.find(isFree) ?? fewest(lanes),
  randomLane: () => random,
  firstIdleOrRandom: () => (lanes) => lanes.find(isFree) ?? random(lanes),
  leastLoaded: () => fewest,
};

export const BALANCER_NAMES: readonly string[] = ["adaptive", "fifo", ...Object.keys(BY_NAME)];

type OtherBalancer = Exclude<BalancerName, "adaptive" | "fifo"> | BalancerFunction;

/** Creates the lane chooser of a balancer that is not "adaptive" (`placement.ts`). */
export function createChooser(
  balancer: BalancerName | BalancerFunction,
  depth: InFlightWindow,
): LaneChooser {
  if (balancer === "fifo") return createFifo(depth);
  return createBalancer(balancer as OtherBalancer, depth);
}

function createBalancer(
  balancer: OtherBalancer,
  depth: InFlightWindow,
): LaneChooser {
  const choose = typeof balancer === "function" ? byFunction(balancer) : BY_NAME[balancer]();
  return {
    maySteal: false,
    wakesFrom: Infinity,
    sharesFrom: Infinity,
    depth,
    pick(lanes: readonly Lane[], _load: CallLoad) {
      const open = lanes.filter(({ load }) => load.outstanding < depth.usual);
      return open.length === 0 ? undefined : choose(open);
    },
    forget() {},
  };
}

/** Calls begin in the order in which they were made: a lane gets a call only when it is idle. */
function createFifo(depth: InFlightWindow): LaneChooser {
  return {
    maySteal: false,
    wakesFrom: Infinity,
    sharesFrom: Infinity,
    depth,
    pick: (lanes) => lanes.find(({ load }) => load.outstanding === 0),
    forget() {},
  };
}
