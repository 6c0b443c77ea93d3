/** What a worker is made of, for its kernel and its features. */
import { Map } from "../builtins.ts";
import { Codec } from "../codec/codec.ts";
import { COPIES_ONLY } from "../codec/support/refusal.ts";
import type { Endpoint } from "../lane/endpoint.ts";
import { REQUEST_RING } from "../lane/layout.ts";
import { GaugeWriter } from "../metering/worker-gauges.ts";
import type { WorkerMessage, WorkerStart } from "../protocol/start-data.ts";
import type { WorkerRealm } from "../realm/worker-realm.ts";
import type { PayloadPort, WorkerRuntime } from "../runtimes/runtime.ts";
import type { HostWaker } from "../sync/host-parking.ts";
import type { SpaceFlag } from "../sync/space-flag.ts";
import type { WorkerFeature } from "./feature.ts";
import type { WorkerLoop } from "./loop.ts";
import type { Replies } from "./replies.ts";
import type { Site } from "./site.ts";
import type { TaskWrap, WorkerTask } from "./task.ts";

/** In the place of words of shared memory: wakes the host, and tells of space in the rings. */
export type LaneSignals = Pick<HostWaker, "wake"> & Pick<SpaceFlag, "raise" | "take">;

export class WorkerCore {
  readonly runtime: WorkerRuntime;
  readonly site: Site;
  /** With memory that a feature has made, where none is shared. */
  start: WorkerStart;
  post: (message: WorkerMessage, transfer?: readonly unknown[]) => void;
  /** Undefined: words of the lane tell. */
  signals: LaneSignals | undefined = undefined;
  /** Parts of features, by what makes them. */
  readonly #parts: Map<unknown, unknown> = new Map();
  /** Modules that features load. */
  readonly modules: string[] = [];
  /** What features load: before tasks that are named, behind a module of tasks. */
  readonly loads: (() => Promise<void>)[] = [];
  /** Called when the tasks are loaded, in the asynchronous context of the loop. */
  readonly onLoaded: (() => void)[] = [];
  /** What is around the calls of all tasks. */
  readonly wraps: TaskWrap[] = [];
  /** Called when the worker ends, before its teardown hooks run. */
  readonly onEnd: (() => Promise<void>)[] = [];
  /** Called when the worker has parked in its event loop. */
  onParked: (() => void) | undefined = undefined;
  /** Called before the event loop turns, after work. */
  onTurn: (() => void) | undefined = undefined;
  /** Gets the measured run times of tasks, in tenths of a microsecond. */
  onRun: ((task: number, tenths: number) => void) | undefined = undefined;
  isLeaving = false;

  readonly codec: Codec;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly port: PayloadPort;
  readonly gauges: GaugeWriter;
  /** Whether the thread must not wait without its event loop. */
  readonly staysInLoop: boolean;
  /** Whether it or its host gets messages without an event loop. */
  readonly mayWait: boolean;
  realm!: WorkerRealm;
  endpoint!: Endpoint;

  /** From here on they exist when the tasks are loaded. */
  tasks: readonly WorkerTask[] = [];
  /** In the same order, with their names in `pool.call`. */
  named: readonly { readonly name: string }[] = [];
  replies!: Replies;
  loop: WorkerLoop | undefined = undefined;
  /** Calls `onOutside` once, in a microtask outside the asynchronous context of every task. */
  callOutside: () => void = () => {};
  onOutside: () => void = () => {};

  /** `starts`: of features that may replace parts of the start data, by their names. */
  constructor(
    start: WorkerStart,
    site: Site,
    runtime: WorkerRuntime,
    starts: readonly WorkerFeature[],
  ) {
    this.runtime = runtime;
    this.site = site;
    this.start = start;
    this.post = site.parent.post;
    for (const { name, start: begin } of starts) {
      const data = start.features[name];
      if (data !== undefined) begin?.(data as never, this);
    }
    const { workerId, maxPayloadBytes, lane, payloadPort, uses: features } = this.start;
    const origin = workerId + 1;
    this.codec = new Codec({
      access: runtime,
      origin,
      maxPayloadBytes,
      allowsBorrow: false,
      features,
      copiesOnly: site.port && COPIES_ONLY,
      hiddenFolder: this.start.hiddenFolder,
    });
    this.control = new Int32Array(lane, 0, REQUEST_RING / 4);
    this.gauges = new GaugeWriter(lane);
    this.port = site.port ?? runtime.openPort(payloadPort);
    this.mayWait = runtime.blocks && this.signals === undefined;
    this.staysInLoop = site.isHost || this.signals !== undefined;
  }

  /** What a feature keeps for each worker: `make` is called at the first use. */
  part<Value>(make: (core: WorkerCore) => Value): Value {
    if (!this.#parts.has(make)) this.#parts.set(make, make(this));
    return this.#parts.get(make) as Value;
  }

  /** The same. Undefined: it was not used yet. */
  partIfMade<Value>(make: (core: WorkerCore) => Value): Value | undefined {
    return this.#parts.get(make) as Value | undefined;
  }

  /**
   * Posts a message that the host gets even while it blocks. A host may be unable to read an attached object, which an event loop
   * reports and numbered messages do not allow.
   */
  notify(message: WorkerMessage, hasAttachments = false): void {
    if (hasAttachments || this.staysInLoop || !this.mayWait) return this.post(message);
    this.port.post(message, []);
    this.post({ heddle: "notice" }); // for a host in its event loop
  }

  /** A clock of all threads. */
  sharedNow(): number {
    return this.runtime.originMs + this.runtime.now();
  }
}
