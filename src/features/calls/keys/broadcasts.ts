/**
 * Broadcasts: one call of a task in every worker. Sticky ones are repeated in each worker that starts later, before it
 * takes any other call.
 */
import { AggregateError, Map, Promise } from "../../../builtins.ts";
import type { DeclaredValues, Signature } from "../../../codec/declared.ts";
import { HeddleError, InvalidArgumentError, WorkerStartError } from "../../../errors.ts";
import { ARGUMENTS, type Snapshot, type SnapshotEncoder } from "../../../lane/snapshot.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { CallerContext } from "../../../host/calls/caller-context.ts";
import { type CallSettings, createSettings } from "../../../host/calls/call-settings.ts";
import type { Reject, Resolve } from "../../../host/calls/in-flight.ts";
import type { FindTask } from "../../../host/calls/queued-call.ts";

export interface BroadcastsOptions {
  readonly snapshots: SnapshotEncoder;
  readonly signatures: readonly (Signature | undefined)[];
  /** Ids of all workers that take calls or are starting, in order. */
  readonly workerIds: () => readonly number[];
  readonly isStarting: (workerId: number) => boolean;
  /** Makes a call of one worker. Throws if the pool takes no calls. */
  readonly call: (
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    resolve: Resolve,
    reject: Reject,
  ) => void;
  /** The same snapshot as the declared shapes of a task require. */
  readonly redeclare: (snapshot: Snapshot, task: number) => Snapshot;
  /** A worker could not run the sticky broadcasts. */
  readonly fail: (lane: Lane, error: Error) => void;
}

interface Sticky {
  readonly task: number;
  readonly snapshot: Snapshot;
  readonly settings: CallSettings;
  /** Results that a broadcast awaits from workers that were starting. */
  readonly expected: Map<number, PromiseWithResolvers<unknown>>;
}

export class Broadcasts {
  readonly #options: BroadcastsOptions;
  readonly #sticky: Sticky[] = [];
  /** Broadcasts of tasks that are not known yet. */
  readonly #early: { start(): void; reject(reason: unknown): void }[] = [];
  #areTasksKnown = false;
  /** What follows the sticky broadcasts of workers that have run them. */
  #finished: (() => void)[] = [];

  constructor(options: BroadcastsOptions) {
    this.#options = options;
  }

  /**
   * Calls the task in every worker. Resolves with the results in the order of the workers when all have responded.
   * Rejects with an AggregateError of the errors of those that failed. Throws the error of encoding the arguments.
   */
  start(
    task: number,
    args: readonly unknown[],
    settings: CallSettings,
    isSticky: boolean,
  ): Promise<unknown[]> {
    const { signatures } = this.#options;
    const own = inContext(settings, new CallerContext());
    return this.#begin(task, this.#take(args, signatures[task]?.args, isSticky), own, isSticky);
  }

  /** The same before the tasks of the pool are known. */
  startEarly(find: FindTask, args: readonly unknown[], isSticky: boolean): Promise<unknown[]> {
    const { redeclare, workerIds } = this.#options;
    const taken = this.#take(args, undefined, isSticky);
    const context = new CallerContext();
    return new Promise((resolve, reject) => {
      const start = (): void => {
        const found = find();
        if (found instanceof HeddleError) {
          reject(found);
          return;
        }
        try {
          const snapshot = redeclare(taken, found.task);
          resolve(this.#begin(found.task, snapshot, inContext(found.settings, context), isSticky));
        } catch (error) {
          reject(error);
        }
      };
      const hasWorkers = workerIds().length > 0;
      // A getter of an argument may have waited for the tasks (`pool.sync`).
      if (this.#areTasksKnown) start();
      else if (hasWorkers || isSticky) this.#early.push({ start, reject });
      if (!hasWorkers) resolve([]);
    });
  }

  /** The tasks of the pool are known. */
  onTasksKnown(): void {
    this.#areTasksKnown = true;
    for (const { start } of this.#early.splice(0)) start();
  }

  /** The arguments, to be sent several times: nothing of them may move. */
  #take(
    args: readonly unknown[],
    declared: DeclaredValues | undefined,
    isSticky: boolean,
  ): Snapshot {
    const taken = this.#options.snapshots.capture(args, ARGUMENTS, declared);
    if (isSticky && taken.departures !== undefined) {
      for (const departure of taken.departures) departure.end();
      throw new InvalidArgumentError(
        "A sticky broadcast cannot carry an end of a channel, which arrives once: use a channel with a name (shared.channel).",
      );
    }
    if (taken.isResendable) return { ...taken, transfer: [] };
    throw new InvalidArgumentError("A broadcast cannot transfer: every worker needs the object.");
  }

  #begin(
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    isSticky: boolean,
  ): Promise<unknown[]> {
    const { workerIds, isStarting } = this.#options;
    const sticky: Sticky | undefined = isSticky
      ? { task, snapshot, settings, expected: new Map() }
      : undefined;
    const ids = workerIds();
    const { departures = [] } = snapshot;
    for (const departure of departures) departure.carry(true); // its calls do so as well
    const results = ids.map((id) => {
      if (sticky === undefined || !isStarting(id)) {
        return this.#callOne(task, snapshot, settings, id);
      }
      const result = Promise.withResolvers<unknown>();
      sticky.expected.set(id, result);
      return result.promise;
    });
    for (const departure of departures) departure.end();
    if (sticky !== undefined) this.#sticky.push(sticky);
    return collect(ids, results);
  }

  /** Runs the sticky broadcasts in a worker that has started. Calls back when they are done, at once if there are none. */
  onPrepare(lane: Lane, onDone: () => void): void {
    let left = this.#sticky.length;
    if (left === 0) {
      onDone();
      return;
    }
    let hasFailed = false;
    for (const { task, snapshot, settings, expected } of this.#sticky) {
      const waiting = expected.get(lane.id);
      expected.delete(lane.id);
      this.#callWorker(task, snapshot, settings, lane.id, (value) => {
        waiting?.resolve(value);
        if (--left === 0) this.#finish(onDone);
      }, (cause) => {
        waiting?.reject(cause);
        if (!hasFailed) this.#finish(() => this.#failLane(lane, cause));
        hasFailed = true;
      });
    }
  }

  /** Not while responses are taken, since it changes the lanes. */
  #finish(callback: () => void): void {
    this.#finished.push(callback);
    void Promise.resolve().then(() => this.#runFinished());
  }

  /** The host blocks, so that promises do not call back. */
  onBlocked(): boolean {
    return this.#runFinished();
  }

  /** Opens workers that are prepared. False: there are none. */
  #runFinished(): boolean {
    const callbacks = this.#finished;
    this.#finished = [];
    for (const callback of callbacks) callback();
    return callbacks.length > 0;
  }

  #failLane(lane: Lane, cause: unknown): void {
    const { message } = Object(cause) as Partial<Error>;
    const text = `A sticky broadcast failed in a worker that started: ${message ?? String(cause)}`;
    this.#options.fail(lane, new WorkerStartError(text, { cause }));
  }

  /** A worker ended: broadcasts that wait for it to start fail there. */
  onWorkerLost(workerId: number, error: () => Error): void {
    for (const { expected } of this.#sticky) {
      expected.get(workerId)?.reject(error());
      expected.delete(workerId);
    }
  }

  /** The pool is closed or has failed. */
  onPoolEnd(error: () => unknown): void {
    for (const { reject } of this.#early.splice(0)) reject(error());
    for (const { expected } of this.#sticky) {
      for (const { reject } of expected.values()) reject(error());
      expected.clear();
    }
  }

  #callOne(
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    workerId: number,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#callWorker(task, snapshot, settings, workerId, resolve, reject);
    });
  }

  #callWorker(
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    workerId: number,
    resolve: Resolve,
    reject: Reject,
  ): void {
    // Retries could only go to another worker.
    const own = createSettings({ ...settings, retries: 0, affinity: { workerId } });
    try {
      this.#options.call(task, snapshot, own, resolve, reject);
    } catch (error) {
      reject(error);
    }
  }
}

/** Its calls are made later, some when further workers start. */
function inContext(settings: CallSettings, context: CallerContext): CallSettings {
  return { ...settings, context };
}

async function collect(
  ids: readonly number[],
  results: readonly Promise<unknown>[],
): Promise<unknown[]> {
  const settled = await Promise.allSettled(results);
  const failed = settled.flatMap((result, index) =>
    result.status === "rejected" ? [{ id: ids[index]!, reason: result.reason as unknown }] : []
  );
  if (failed.length === 0) {
    return settled.map((result) => (result as PromiseFulfilledResult<unknown>).value);
  }
  const workerIds = failed.map(({ id }) => id);
  const error = new AggregateError(
    failed.map(({ reason }) => reason),
    `The broadcast failed in ${failed.length} of ${ids.length} workers: ${workerIds.join(", ")}.`,
  );
  throw Object.assign(error, { workerIds });
}
