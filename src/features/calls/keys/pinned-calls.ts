/**
 * Calls that only one worker may run: the worker of their key, or a certain one (a broadcast). They wait here, in a list
 * for each worker, so that they delay no other call, and are never stolen.
 *
 * Nested calls wait here too, in a list of their own: no other call may delay them, nor the limits of lanes, since the calls
 * that await them fill those. The same holds for those of a certain worker.
 *
 * A key is hashed to one of `KEY_SLOTS` slots, and a slot gets the worker with the fewest slots when it is first used, also
 * one that is starting: those of the first calls would all be of the worker that is ready first. So the memory for keys is
 * bounded, and a key keeps its worker until that takes no more calls.
 */
import { Map } from "../../../builtins.ts";
import { WorkerLostError } from "../../../errors.ts";
import type { Affinity } from "../../../host/calls/call-settings.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { takesCalls } from "../../../host/lanes/phase.ts";
import { type PendingCall, QUEUED_ON_HOST } from "../../../host/calls/in-flight.ts";
import type { QueuedCall } from "../../../host/calls/queued-call.ts";
import { KEY_SLOTS, slotOf } from "./key-slots.ts";
import type { PinnedQueue, PinnedQueueOptions } from "../../../host/dispatch/queue/pinned-queue.ts";

const NO_LANE = -1;
/** Nested calls of any worker, in the place of the id of a lane. */
const NESTED = -2;
/** Nested calls of the worker `id`: at `FIRST_NESTED - id`. */
const FIRST_NESTED = -3;

export class PinnedCalls implements PinnedQueue {
  readonly #options: PinnedQueueOptions;
  /** By lane id, also of workers that are starting, or by the above. Calls with a key wait under NO_LANE until their lane is open. */
  readonly #waiting = new Map<number, QueuedCall[]>();
  /** The lane id of each slot. */
  readonly #slots = new Int32Array(KEY_SLOTS).fill(NO_LANE);

  constructor(options: PinnedQueueOptions) {
    this.#options = options;
  }

  /** Calls that wait here. */
  get size(): number {
    let size = 0;
    for (const calls of this.#waiting.values()) size += calls.length;
    return size;
  }

  /** Calls that no worker takes yet: those with a key, and nested ones. */
  get unassigned(): number {
    return (this.#waiting.get(NO_LANE)?.length ?? 0) + (this.#waiting.get(NESTED)?.length ?? 0);
  }

  /** Whether calls wait for a worker that takes calls. */
  get isSendable(): boolean {
    const hasOpen = this.#options.lanes.open.length > 0;
    for (const id of this.#waiting.keys()) {
      if (id === NESTED ? hasOpen : this.#laneById(laneIdOf(id)) !== undefined) return true;
    }
    return false;
  }

  laneNow(affinity: Affinity): Lane | undefined {
    if (isNested(affinity)) return undefined;
    const id = this.#idOf(affinity);
    const lane = this.#options.lanes.byId(id);
    const isFree = lane?.phase === "open" && !this.#waiting.has(id) &&
      lane.load.outstanding < this.#options.placement.depth.usual;
    return isFree ? lane : undefined;
  }

  #idOf(affinity: Affinity): number {
    if ("workerId" in affinity) {
      const { workerId } = affinity;
      return affinity.isNested === true ? FIRST_NESTED - workerId : workerId;
    }
    return "isNested" in affinity ? NESTED : this.#laneOf(affinity.slot ??= slotOf(affinity.key));
  }

  /** Adds a call whose settings have an affinity. */
  add(queued: QueuedCall, call: PendingCall): void {
    const affinity = call.settings.affinity!;
    const id = this.#idOf(affinity);
    // It may have ended while promises among the arguments were awaited.
    if ("workerId" in affinity) {
      const { workerId } = affinity;
      const isThere = affinity.isNested === true
        ? this.#endsCalls(workerId) !== undefined
        : this.#options.workerIds().includes(workerId);
      if (!isThere) return this.#refuse(call, workerId, "it takes no calls any more");
    }
    const calls = this.#waiting.get(id);
    if (calls === undefined) this.#waiting.set(id, [queued]);
    else if (id !== NESTED) calls.push(queued);
    else {
      const before = calls.findLastIndex(({ priority }) => priority >= queued.priority);
      calls.splice(before + 1, 0, queued);
    }
  }

  find(slot: number, generation: number): QueuedCall | undefined {
    for (const calls of this.#waiting.values()) {
      const found = calls.find((call) => call.slot === slot && call.generation === generation);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  has(slot: number, generation: number): boolean {
    return this.find(slot, generation) !== undefined;
  }

  /** Whether this worker may run a call; `isOnly`: and no other may. */
  mayRun(
    { id }: Pick<Lane, "id">,
    { settings: { affinity } }: PendingCall,
    isOnly = false,
  ): boolean {
    if (affinity !== undefined && "workerId" in affinity) return affinity.workerId === id;
    if (affinity === undefined || "isNested" in affinity) return !isOnly;
    return affinity.slot !== undefined && this.#slots[affinity.slot] === id;
  }

  /** Sends calls to their workers while these have room. True: some were sent. */
  flush(): boolean {
    let hasSent = false;
    for (const [id, calls] of this.#waiting) {
      const sent = id <= NESTED
        ? this.#flushNested(calls)
        : this.#flushTo(this.#laneById(id), calls);
      if (sent > 0) calls.splice(0, sent);
      if (calls.length === 0) this.#waiting.delete(id);
      hasSent ||= sent > 0;
    }
    return hasSent;
  }

  /** The lane takes no more calls: its keys get other workers, and calls for it alone are rejected. */
  onClosed(laneId: number, reason: string): void {
    for (let slot = 0; slot < KEY_SLOTS; slot++) {
      if (this.#slots[slot] === laneId) this.#slots[slot] = NO_LANE;
    }
    this.onOpened(); // those that waited for this lane to open get another
    const nested = this.#endsCalls(laneId) ? [] : this.#take(FIRST_NESTED - laneId);
    for (const queued of [...this.#take(laneId), ...nested]) {
      const call = this.#callOf(queued);
      if (call === undefined) continue;
      if ("key" in call.settings.affinity!) this.add(queued, call);
      else this.#refuse(call, laneId, reason);
    }
  }

  #refuse(call: PendingCall, workerId: number, reason: string): void {
    const error = new WorkerLostError({ workerId, exitCode: undefined, reason });
    this.#options.inFlight.reject(call, error);
  }

  /** A lane was opened: its calls with keys need no longer wait for it. */
  onOpened(): void {
    for (const queued of this.#take(NO_LANE)) {
      const call = this.#callOf(queued);
      if (call !== undefined) this.add(queued, call);
    }
  }

  /** Drops the entries of settled calls. */
  prune(): void {
    for (const [id, calls] of this.#waiting) {
      this.#waiting.set(id, calls.filter((queued) => this.#callOf(queued) !== undefined));
    }
  }

  clear(): void {
    this.#waiting.clear();
  }

  /** How many of `calls`, from the first, were sent or are settled. */
  #flushTo(lane: Lane | undefined, calls: readonly QueuedCall[]): number {
    if (lane === undefined) return 0;
    const { placement, sender, taskTimings } = this.#options;
    let sent = 0;
    for (const queued of calls) {
      if (this.#callOf(queued) !== undefined) {
        // The last call may have closed the lane, which has moved or rejected the others.
        if (!takesCalls(lane) || lane.load.outstanding >= placement.depth.usual) break;
        if (!sender.sendSnapshot(lane, queued, taskTimings.loadOf(queued.task))) break;
      }
      sent++;
    }
    return sent;
  }

  /** The same for nested calls. A lane takes any number of them, as long as its ring has room. */
  #flushNested(calls: readonly QueuedCall[]): number {
    let sent = 0;
    for (const queued of calls) {
      const call = this.#callOf(queued);
      if (call !== undefined && !this.#sendNested(queued, call.settings.affinity!)) break;
      sent++;
    }
    return sent;
  }

  #sendNested(queued: QueuedCall, affinity: Affinity): boolean {
    const { lanes, placement, sender, taskTimings } = this.#options;
    const load = taskTimings.loadOf(queued.task);
    if ("workerId" in affinity) {
      const lane = this.#endsCalls(affinity.workerId);
      return lane !== undefined && !lane.isBlocked && sender.sendSnapshot(lane, queued, load);
    }
    // Other balancers may be functions of the program.
    const picked = placement.maySteal ? placement.pick(lanes.open, load) : undefined;
    if (picked !== undefined && sender.sendSnapshot(picked, queued, load)) return true;
    // Workers that are to be replaced may all wait for such calls, and keep others from being started. A thread that waits
    // would not begin one, least of all that for which it waits.
    const others = this.#options.hasWorker()
      ? lanes.open.filter((lane) => lane !== picked)
      : lanes.all.filter((lane) =>
        lane.load.outstanding > 0 && !takesCalls(lane) && !lane.isBlocked
      );
    others.sort((one, other) => one.load.outstanding - other.load.outstanding);
    return others.some((lane) => sender.sendSnapshot(lane, queued, load));
  }

  /** A lane that may get calls. */
  #laneById(id: number): Lane | undefined {
    const { lanes } = this.#options;
    const lane = lanes.byId(id);
    return lane !== undefined && takesCalls(lane) ? lane : undefined;
  }

  /** The same, or one that gets no others: what its calls wait for. */
  #endsCalls(id: number): Lane | undefined {
    const lane = this.#options.lanes.byId(id);
    return lane?.phase === "draining" ? lane : this.#laneById(id);
  }

  #take(laneId: number): readonly QueuedCall[] {
    const calls = this.#waiting.get(laneId) ?? [];
    this.#waiting.delete(laneId);
    return calls;
  }

  #callOf({ slot, generation }: QueuedCall): PendingCall | undefined {
    const call = this.#options.inFlight.find(slot, generation);
    return call?.lane === QUEUED_ON_HOST ? call : undefined;
  }

  /** The id of the lane of a slot, or NO_LANE while that is not open. */
  #laneOf(slot: number): number {
    if (this.#slots[slot] === NO_LANE) {
      this.#slots[slot] = fewestSlots(this.#options.workerIds(), this.#slots) ?? NO_LANE;
    }
    const id = this.#slots[slot]!;
    return this.#options.lanes.open.some((lane) => lane.id === id) ? id : NO_LANE;
  }
}

function isNested(affinity: Affinity): boolean {
  return "isNested" in affinity && affinity.isNested === true;
}

/** The lane of a key of `#waiting`. */
function laneIdOf(key: number): number {
  return key <= FIRST_NESTED ? FIRST_NESTED - key : key;
}

function fewestSlots(ids: readonly number[], slots: Int32Array): number | undefined {
  const counts = new Map(ids.map((id) => [id, 0]));
  for (const id of slots) if (counts.has(id)) counts.set(id, counts.get(id)! + 1);
  return ids.toSorted((one, other) => counts.get(one)! - counts.get(other)!)[0];
}
