/**
 * The phase of a worker, from its start to its end. `LaneSet.move` is the only function that writes it.
 *
 *   from        to          who moves it, and when
 *   starting    preparing   `ThreadLane`: the worker has loaded its tasks
 *   preparing   open        `Supervisor`: it has run what workers run first (sticky broadcasts)
 *   open        suspended   `LanePhases.pause`: its thread waits for an answer of the host
 *   suspended   open        `LanePhases.resume`: it has the answer
 *   preparing,  draining    `LanePhases.drain`, or its last call was sent: it answers its calls and gets no others. It is
 *   open, or                recycled, its thread goes to another pool, or it runs a task that cannot be stopped
 *   suspended
 *   any of      closing     `LanePhases.end` with a reason: it is asked to exit. With an error: it is stopped.
 *   these                   Without `LanePhases`: its pool is closed, and goes on reading its rings
 *   any         gone        `ThreadLane`: its thread has ended, or did not end in time
 *
 * It takes calls while it is preparing (only those that prepare it), open, or suspended (it gets them when it goes on).
 */
export type Phase =
  | "starting"
  | "preparing"
  | "open"
  | "suspended"
  | "draining"
  | "closing"
  | "gone";

/** What may follow each phase. */
export const NEXT: Readonly<Record<Phase, readonly Phase[]>> = {
  starting: ["preparing", "closing", "gone"],
  preparing: ["open", "draining", "closing", "gone"],
  open: ["suspended", "draining", "closing", "gone"],
  suspended: ["open", "draining", "closing", "gone"],
  draining: ["closing", "gone"],
  closing: ["gone"],
  gone: [],
};

interface HasPhase {
  readonly phase: Phase;
}

/** Whether a worker counts as one of its pool: it takes calls, or will when it has started. */
export function isAlive({ phase }: HasPhase): boolean {
  return phase !== "draining" && phase !== "closing" && phase !== "gone";
}

/** Whether a worker may get calls, now or when it goes on. */
export function takesCalls(lane: HasPhase): boolean {
  return lane.phase !== "starting" && isAlive(lane);
}
