/**
 * One worker thread as the host sees it: its memory, its endpoint, its thread and its life.
 *
 * A lane settles no calls. Its owner is told how it ends, and settles or retries them.
 */
import { Promise } from "../../builtins.ts";
import { unpackError } from "../../codec/codec.ts";
import { textOf } from "../../codec/kinds/errors.ts";
import type { Endpoint } from "../../lane/endpoint.ts";
import {
  ANSWERS,
  BEGUN,
  CLOSING,
  ENDED,
  FOR_CALLS,
  FOR_SPACE,
  IS_CLOSING,
  LIFE,
  LOOP_PARKS,
  REQUEST_RING,
  RESPONSE_BACKLOG,
  STARTED,
  STOPPED,
  WAITS_FOR,
} from "../../lane/layout.ts";
import { links } from "../../lane/links.ts";
import type { AnswerMessage } from "../../features/calls/requests/messages.ts";
import {
  FLUSH,
  type HostMessage,
  type StartOutcome,
  WAKE,
  type WorkerMessage,
  type WorkerStart,
} from "../../protocol/start-data.ts";
import { DataCloneError } from "../../errors.ts";
import { WORKERS } from "../../realm/thread-hooks.ts";
import { AwakeCount, type SharedWord } from "../../sync/awake-count.ts";
import { RUNNING } from "../../sync/worker-parking.ts";
import { type HostRuntime, MAX_TIMER_MS, type Timer } from "../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import type { Death } from "../../runtimes/processes/types.ts";
import { messages } from "../lanes/feature.ts";
import { LaneLoad } from "../lanes/lane-load.ts";
import { giveLaneMemory, takeLaneMemory } from "./lane-memory.ts";
import type { Lane } from "../lanes/lane.ts";
import { type Phase, takesCalls } from "../lanes/phase.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import type { LaneEnd, WorkerEvents } from "./feature.ts";
import {
  connect,
  createEndpoint,
  type LaneConnection,
  type LaneOptions,
} from "./lane-connection.ts";
import { PayloadCredit } from "../lanes/payload-credit.ts";
import { EXITED, explainDeath } from "./death.ts";
import { answerShared, endSharing, stopSharing } from "./shared-part.ts";
import { endedEarly, lateStart, startErrorOf } from "./start-errors.ts";
import type { Receiver } from "./watchdog.ts";

export type { LaneEnd, LaneOptions };

/** What has started a lane, and hears of it. */
export interface LaneOwner {
  readonly lanes: Pick<LaneSet, "move">;
  readonly events: WorkerEvents;
  onReady(lane: Lane): void;
  /** Called exactly once, when the lane is gone: the thread has exited, or did not end in time. */
  onEnd(lane: ThreadLane, end: LaneEnd): void;
}

/** How long the process waits for the output of a worker, and how long the runtime may take to stop one. */
const OUTPUT_MS = 1000, TERMINATE_MS = 1000;
/** The same for `close`: no runtime can stop a thread in a native call (`execSync`), and `close` should not wait long. */
const CLOSE_TERMINATE_MS = 100;
/** Parts of the time for a start. Each counts once: time in which the machine is suspended, or the host is busy, is not the worker's. */
const START_PARTS = 8;
/** Extra time, in which a host that was busy can receive the ready message, which may be queued. */
const START_GRACE_MS = 100;

export class ThreadLane implements Lane, Receiver {
  readonly id: number;
  readonly slot: number;
  readonly endpoint: Endpoint;
  readonly load: LaneLoad;
  phase: Phase = "starting";
  /** The watchdog runs on the only thread that wakes workers, so no wake is half done. */
  readonly isLeftAlone = true;
  declare endsFor?: string;
  declare replaces?: Lane | undefined;
  declare replacedBy?: number | undefined;
  declare isUnstoppable?: boolean;
  declare read?: Lane["read"];

  /** The worker's share of the AwakeCount. The supervisor subtracts it when the worker has ended. */
  readonly activeShare: SharedWord = AwakeCount.create();

  readonly access: HostRuntime;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #handle: WorkerHandle;
  readonly #waker: LaneConnection["waker"];
  readonly #responseSpace: LaneConnection["responseSpace"];
  readonly #requestSpace: LaneConnection["requestSpace"];
  readonly mirror: LaneConnection["mirror"];
  readonly #owner: LaneOwner;
  readonly #ofHost: Int32Array;
  readonly #gone: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #options: LaneOptions;
  readonly #timers: Partial<Record<"start" | "output" | "end", Timer | undefined>> = {};
  #credit: PayloadCredit | undefined;
  #hasStarted = false;
  /** Its worker was asked to exit. */
  #isAsked = false;
  #isStopped = false;
  #cause: unknown;
  #reason: string | undefined;
  #startError: Error | undefined;

  constructor(id: number, slot: number, options: LaneOptions, owner: LaneOwner) {
    const { runtime, ringSizes, start } = options;
    this.id = id;
    this.slot = slot;
    this.access = runtime;
    this.#owner = owner;
    this.#options = options;
    this.load = new LaneLoad();
    Atomics.add(this.#ofHost = new Int32Array(start.active.at(-1)!.buffer), WORKERS, 1);
    const lane = takeLaneMemory(ringSizes);
    this.#control = new Int32Array(lane, 0, REQUEST_RING / 4);
    try {
      this.#handle = options.spawn(id);
    } catch (error) {
      endSharing(runtime, this.activeShare, this.#ofHost, true);
      throw error;
    }
    this.read = this.#handle.read;
    const { local, remote } = this.#handle.channel ?? runtime.createChannel();
    this.endpoint = createEndpoint(lane, options, local);
    links.current?.attach(this.endpoint, local, () => owner.events.onWake(this));
    const message: WorkerStart = {
      ...start,
      active: [...start.active, this.activeShare],
      workerId: id,
      slot,
      lane,
      requestCapacity: ringSizes.requests,
      payloadPort: remote,
    };
    const connected = (options.connect ?? connect)(this.#handle, message, ringSizes, runtime);
    this.#waker = connected.waker;
    this.#responseSpace = connected.responseSpace;
    this.#requestSpace = connected.requestSpace;
    this.mirror = connected.mirror;
    this.#handle.onMessage(this.#onMessage);
    this.#handle.onError((error) => this.#onUncaught(error));
    this.#handle.onExit(this.#onExit);
    this.#limitStart(START_PARTS);
  }

  /** A timer in place of the earlier one of that name. Its callback runs unless the worker is gone. */
  #limit(name: "start" | "output" | "end", delayMs: number, callback: () => void): Timer {
    this.#timers[name]?.clear();
    return this.#timers[name] = this.access.setTimeout(callback, delayMs);
  }

  #limitStart(parts: number): void {
    const { startTimeoutMs, start: { taskModule } } = this.#options;
    if (startTimeoutMs > MAX_TIMER_MS) return;
    const delayMs = parts > 0 ? startTimeoutMs / START_PARTS : START_GRACE_MS;
    this.#limit("start", delayMs, () => {
      if (parts > 0) this.#limitStart(parts - 1);
      else this.#failStart(lateStart(startTimeoutMs, taskModule));
    }).unref(); // a starting worker keeps the process running by itself
  }

  #onUncaught(error: unknown): void {
    this.#cause ??= error;
    this.#reason ??= `uncaught exception: ${textOf(error)}`;
  }

  /** Whether it has ever answered a call. */
  get hasResponded(): boolean {
    return this.endpoint.rx.headPosition !== 0;
  }

  get credit(): PayloadCredit {
    return this.#credit ??= new PayloadCredit(this.endpoint.tx);
  }

  get isAwake(): boolean {
    return this.#waker.state === RUNNING;
  }

  get isResting(): boolean {
    if (this.isAwake || this.endpoint.tx.hasUnread) return false;
    return Atomics.load(this.#control, WAITS_FOR) === FOR_CALLS;
  }

  get hasBacklog(): boolean {
    // SYNC(backlog): pairs with Replies. Needs acquire; read the ring after it.
    return Atomics.load(this.#control, RESPONSE_BACKLOG) > 0;
  }

  get isWaitingInLoop(): boolean {
    return (Atomics.load(this.#control, LOOP_PARKS) & 1) === 1;
  }

  get isAnnounced(): boolean {
    return !this.isAwake;
  }

  get hasReason(): boolean {
    const waitsFor = Atomics.load(this.#control, WAITS_FOR);
    if (waitsFor === FOR_CALLS) return this.endpoint.tx.hasUnread;
    return waitsFor === FOR_SPACE && !this.endpoint.rx.hasRecord;
  }

  get progress(): string {
    const { headPosition, tailPosition } = this.endpoint.tx;
    return `${headPosition}/${tailPosition}/${Atomics.load(this.#control, LOOP_PARKS)}`;
  }

  wake(isAgain?: boolean): void {
    if (this.#waker.wake()) {
      this.load.isWaking = true;
      this.#owner.events.onWoken?.(this.id);
    }
    if (isAgain === true) this.#waker.repost();
  }

  wakeForSpace(): void {
    if (this.#responseSpace.take()) this.#waker.wake();
  }

  requestSpace(): void {
    this.#requestSpace.raise();
  }

  repost(): void {
    this.#waker.repost();
  }

  postStream(message: HostMessage, transfer: readonly unknown[] = []): boolean {
    if (this.phase === "gone") return false;
    this.mirror?.flush(); // the call of which it speaks first
    try {
      this.#handle.post(message, transfer);
      return true;
    } catch (error) {
      throw new DataCloneError(textOf(error), { cause: error });
    }
  }

  postAnswer(message: AnswerMessage, transfer: readonly unknown[]): boolean {
    if (this.phase === "gone") return false;
    this.endpoint.messages.postOther(message, transfer);
    // SYNC(answers): pairs with `requestSync` in features/calls/requests/worker/host-requests.ts.
    Atomics.add(this.#control, ANSWERS, 1);
    Atomics.notify(this.#control, ANSWERS);
    return true;
  }

  get #isReady(): boolean {
    return takesCalls(this) || this.phase === "draining";
  }

  /** Keeps the process running until the worker's output to stdout and stderr has arrived. */
  awaitOutput(): void {
    if (!this.#isReady || this.#timers.output !== undefined) return;
    this.#handle.ref();
    this.#handle.post(FLUSH);
    this.#limit("output", OUTPUT_MS, () => this.#onOutput());
  }

  #onOutput(): void {
    this.#timers.output?.clear();
    this.#timers.output = undefined;
    if (this.#isReady) this.#handle.unref();
  }

  /** It cannot start. */
  #failStart(error: Error): void {
    this.#startError ??= error;
    void this.end(error);
  }

  /** Asks the worker to exit, and stops it if it does not in time; or stops it at once. */
  end(reason: string | Error): Promise<void> {
    if (this.phase === "gone") return this.#gone.promise;
    this.#owner.lanes.move(this, "closing");
    if (typeof reason !== "string") {
      this.#cause ??= reason;
      this.#reason ??= reason.message;
      this.#stop(TERMINATE_MS);
    } else {
      this.#reason ??= reason;
      this.#handle.ref();
      if (this.#isStopped) this.#stop(CLOSE_TERMINATE_MS);
      else if (!this.#isAsked) this.#ask();
    }
    return this.#gone.promise;
  }

  #ask(): void {
    this.#isAsked = true;
    if (this.#handle.isBlank?.()) return this.#stop(CLOSE_TERMINATE_MS);
    // Do not terminate a starting thread at once: on Node 22 that can crash the process while a module is evaluated
    // (`location_ != nullptr` in ExecuteAsyncModule). It exits when it has started and sees IS_CLOSING.
    const limitMs = this.#options.teardownTimeoutMs;
    if (limitMs <= MAX_TIMER_MS) this.#limit("end", limitMs, () => this.#stop(CLOSE_TERMINATE_MS));
    // SYNC(close): stored after the last call was committed. Pairs with `#parkInLoop` in worker/loop.ts, which checks its ring
    // again after it has read this word. Needs release; waking relies on seq-cst (worker-parking.ts).
    Atomics.store(this.#control, IS_CLOSING, CLOSING);
    try {
      this.#waker.wake();
    } catch (error) {
      this.#cause ??= error; // a damaged parked word: the worker cannot be woken
      this.#stop(CLOSE_TERMINATE_MS);
    }
  }

  /** Treats the worker as gone after that time: runtimes may report neither the end of `terminate()` nor an exit. */
  #stop(waitMs: number): void {
    const isFirst = !this.#isStopped;
    this.#isStopped = true;
    if (isFirst) {
      Atomics.store(this.#control, IS_CLOSING, STOPPED); // SYNC(stopped): before `terminate`. Pairs with Replies.thrown.
      stopSharing(this.access, this.activeShare);
      this.#handle.terminate().catch((error) => this.#cause ??= error);
    }
    if (isFirst || waitMs < TERMINATE_MS) this.#limit("end", waitMs, () => this.#onExit(undefined));
  }

  readonly #onMessage = (received: unknown): void => {
    const { events } = this.#owner;
    if (received === WAKE) {
      events.onWake(this);
      return;
    }
    if (typeof received !== "object" || received === null || !("heddle" in received)) {
      events.emit("message", { workerId: this.id, message: received }); // heddle's own are marked
      return;
    }
    const message = received as Exclude<WorkerMessage, typeof WAKE>;
    switch (message.heddle) {
      case "ready":
      case "failed":
        return this.#onStarted(message);
      case "flushed":
        return this.#onOutput();
      case "notice":
        return this.#takeNotices();
      case "shared":
        return answerShared(this.access, message.body, this.endpoint, this.#handle);
      case "uncaught":
        return this.#onUncaught(unpackError(this.access, message.error));
      case "unhandledRejection": {
        const error = unpackError(this.access, message.error);
        const warning = `unhandled rejection in worker ${this.id}:`;
        events.emit("unhandledRejection", { workerId: this.id, error }, warning, error);
        return;
      }
      default:
        messages[message.heddle]?.(this, message as never, events as never);
    }
  };

  /** For a host that blocks, and so gets no messages: notices that the worker has started or ended; then returns true. `isTick`: by all means. */
  checkLife(isTick: boolean): boolean {
    const wasStarting = this.phase === "starting";
    const life = Atomics.load(this.#control, LIFE); // SYNC(life): after an announced block. Pairs with setLife in worker/entry.ts.
    const hasNews = wasStarting && (life & ~BEGUN) !== 0;
    if (isTick || hasNews) this.#takeNotices(); // among them the outcome of its start, posted before it set the word
    if (hasNews && life & STARTED) this.#onStarted({ heddle: "ready" });
    // Without an exit code: its exit handlers may still run.
    if (life & ENDED || (isTick && this.#handle.hasEnded?.())) this.#onExit(undefined);
    return this.phase === "gone" || (wasStarting && this.phase !== "starting");
  }

  /** Takes what the worker has posted on the payload port, where a host that blocks finds it. */
  #takeNotices(): void {
    if (this.phase === "gone") return;
    const { messages } = this.endpoint;
    for (let next = messages.takeNotice(); next !== undefined; next = messages.takeNotice()) {
      this.#onMessage(next);
    }
  }

  #onStarted(outcome: StartOutcome): void {
    if (this.phase !== "starting" || this.#hasStarted) return;
    this.#hasStarted = true;
    if (outcome.heddle === "failed") {
      const cause = unpackError(this.access, outcome.error);
      this.#startError = startErrorOf(outcome, cause, this.#options.start.setup);
      return;
    }
    const { tasks } = outcome;
    const error = tasks === undefined ? undefined : this.#owner.events.onTasks(tasks);
    if (error instanceof Promise) void error.then((error) => this.#onTasksKnown(error));
    else this.#onTasksKnown(error);
  }

  #onTasksKnown(error: Error | undefined): void {
    if (this.phase !== "starting") return;
    if (error !== undefined) return this.#failStart(error);
    this.#owner.lanes.move(this, "preparing");
    this.#timers.start?.clear();
    this.#handle.unref();
    this.#owner.onReady(this);
  }

  readonly #onExit = (exitCode: number | undefined, death?: Death): void => {
    if (this.phase === "gone") return;
    const wasStarting = this.phase === "starting";
    const neverBegan = wasStarting && !(Atomics.load(this.#control, LIFE) & BEGUN);
    this.mirror?.recover(this.#handle.begun?.());
    this.#owner.lanes.move(this, "gone");
    for (const timer of Object.values(this.#timers)) timer?.clear();
    this.#gone.resolve();
    const cause = this.#cause;
    const found = (death ?? cause) === undefined ? EXITED : explainDeath(death, cause);
    const given = this.#reason ?? this.#startError?.message;
    const reason = given?.replace(/\.$/, "") ?? found.reason; // it becomes the end of a sentence
    if (wasStarting) {
      const told = death !== undefined || cause === undefined ? exitCode : undefined;
      this.#startError ??= endedEarly(reason, cause, told, found.stderr);
    }
    this.#owner.onEnd(this, {
      workerId: this.id,
      exitCode,
      ...found,
      reason,
      cause,
      startError: this.#startError,
      neverBegan,
      wasAsked: this.#isAsked,
    });
    this.endpoint.close();
    const isCertain = !this.#isStopped && exitCode !== undefined;
    endSharing(this.access, this.activeShare, this.#ofHost, isCertain);
    // A stopped thread may still run (Deno), and one of a browser after it has said that it ends.
    if (isCertain && this.access.blocks) {
      giveLaneMemory(this.#control.buffer, this.#options.ringSizes);
    }
  };
}
