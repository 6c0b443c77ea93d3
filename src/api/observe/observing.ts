/** The parts of a pool that only watch: the tracing channel, `metrics`, `debug` and `context`. */
import { URL } from "../../builtins.ts";
import { CallEntry } from "../../host/observe/call-entry.ts";
import { CallObserver } from "../../host/observe/call-observer.ts";
import { DebugLog } from "../../host/observe/debug-log.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { SupervisorEvents } from "../../host/workers/supervisor.ts";
import { callMetricsBytes, CallStamps } from "../../metering/call-metrics.ts";
import { MAX_MODULE_TASKS, type PoolStart } from "../../protocol/start-data.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** Name of the tracing channel in `node:diagnostics_channel`. */
const CHANNEL = "heddle:call";

export class Observing {
  /** With `debug`. */
  readonly debug: DebugLog | undefined;
  /** With `metrics: true`. */
  readonly stamps: CallStamps | undefined;
  readonly hasContext: boolean;
  /** What workers have to know. */
  readonly start: Pick<PoolStart, "context" | "metrics" | "printsWaitsFromMs">;
  readonly #spec: PoolSpec;

  constructor(spec: PoolSpec) {
    const { options: { metrics, debug, context, workerOptions }, runtime, sources } = spec;
    this.#spec = spec;
    this.hasContext = context !== undefined;
    if (debug !== undefined) this.debug = new DebugLog(debug, workerOptions.name, runtime);
    if (metrics) {
      const tasks = spec.taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
      const memory = new SharedArrayBuffer(callMetricsBytes(tasks));
      const now = (): number => runtime.originMs + runtime.now();
      this.stamps = new CallStamps(memory, now, runtime.microtask);
    }
    this.start = {
      context: context && runtime.toModuleUrl(context.run),
      metrics: this.stamps?.buffer,
      printsWaitsFromMs: this.debug?.waits === true ? this.debug.fromMs : undefined,
    };
  }

  createEntry(dispatcher: Dispatcher): CallEntry {
    const { options, runtime, signatures, sources, workerEntry } = this.#spec;
    // In a bundle, heddle's frames are in the program's file.
    const ownFolder = workerEntry.mark === undefined
      ? new URL("../", workerEntry.url).pathname
      : undefined;
    const channel = runtime.tracingChannel(CHANNEL);
    const { debug, stamps } = this;
    const createObserver = (): CallObserver =>
      new CallObserver({
        channel,
        debug,
        stamps,
        pool: options.workerOptions.name,
        ownFolder,
        dispatcher,
      });
    const capture = options.context?.capture;
    const { submitter, inFlight: { counts } } = dispatcher;
    const names = sources;
    return new CallEntry({
      submitter,
      counts,
      channel,
      isDebugging: debug !== undefined,
      createObserver,
      capture,
      signatures,
      names,
      ownFolder,
    });
  }

  /** The same events; with `debug`, each park is printed. */
  printingParks<Events extends { onPark(): void }>(events: Events, calls: () => number): Events {
    const { debug } = this;
    if (debug?.waits !== true) return events;
    const onPark = (): void => {
      debug.print(`the host parked, ${calls()} calls are in flight`);
      events.onPark();
    };
    return { ...events, onPark };
  }

  /** What a wake message of a worker does, and what follows a wake of a worker; with `debug`, both are printed. */
  wakeEvents(onWake: () => void): Pick<SupervisorEvents, "onWake" | "onWoken"> {
    const { debug } = this;
    if (debug?.waits !== true) return { onWake, onWoken: undefined };
    return {
      onWake: ({ id }) => {
        debug.print(`worker ${id} woke the host`);
        onWake();
      },
      onWoken: (id) => debug.print(`the host woke worker ${id}`),
    };
  }

  /** Prints a decision about workers. */
  printWorker(text: () => string): void {
    if (this.debug?.workers === true) this.debug.print(text());
  }
}
