/** What workers may ask of the host of a pool: the functions of the option `host`, and the pool's own tasks. */
import { Map } from "../../builtins.ts";
import type { Codec } from "../../codec/codec.ts";
import type { AnyCallback } from "../../codec/support/callback.ts";
import { type HeddleError, UnknownFunctionError } from "../../errors.ts";
import { type CallSettings, createSettings } from "../../host/calls/call-settings.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { PollLoop } from "../../host/dispatch/poll-loop.ts";
import { MAX_RESPONSES } from "../../host/dispatch/responses.ts";
import type { Cancellation } from "../../host/limits/cancellation.ts";
import { HostRequests } from "../../host/requests/host-requests.ts";
import type { NestedTask } from "../../host/requests/nested-requests.ts";
import type { Supervisor } from "../../host/workers/supervisor.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import { unknownTask } from "../calls/call-proxy.ts";
import { didYouMean } from "../../option-checks.ts";
import { mergeOptions } from "../options/call-options.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** The parts of a pool that handle requests. */
interface RequestParts {
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly dispatcher: Dispatcher;
  readonly cancellation: Cancellation;
  readonly supervisor: Pick<Supervisor, "workerIds" | "mayStart">;
  readonly loop: Pick<PollLoop, "kick">;
}

export function createRequests(spec: PoolSpec, parts: RequestParts): HostRequests {
  const { options, sources, signatures } = spec;
  const { dispatcher, dispatcher: { lanes }, supervisor, loop } = parts;
  const called = new Map<string, NestedTask>();
  const findTask = (name: string): NestedTask | HeddleError => {
    const known = called.get(name);
    if (known !== undefined) return known;
    const task = sources.findIndex((source) => source.name === name);
    if (task < 0) return unknownTask(name, sources.map((source) => source.name));
    const found = nested(spec, task);
    called.set(name, found);
    return found;
  };
  const hasWorker = (): boolean => {
    if (lanes.open.length > 0) return true;
    return supervisor.workerIds.length > lanes.suspended || supervisor.mayStart;
  };
  const requests = new HostRequests({
    ...parts,
    signatures,
    hasContext: options.context !== undefined,
    findFunction: (name) => findFunction(options.hostFunctions, name),
    findTask,
    nameOf: (task) => sources[task % sources.length]?.name ?? "?",
    hasWorker,
    takeResponses: () => {
      if (dispatcher.drain(MAX_RESPONSES) > 0) loop.kick();
    },
  });
  parts.dispatcher.responses.requests = requests;
  parts.dispatcher.waiting.hasWorker = hasWorker;
  return requests;
}

function findFunction(
  functions: Readonly<Record<string, unknown>>,
  name: string,
): AnyCallback | UnknownFunctionError {
  const f = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (typeof f === "function") return f as AnyCallback;
  const known = Object.keys(functions).filter((key) => typeof functions[key] === "function");
  return new UnknownFunctionError(name, known, didYouMean(name, known));
}

function nested(
  { tasks, options: { hardTimeoutMs, balancer } }: PoolSpec,
  task: number,
): NestedTask {
  const { settings: own, isStream, check } = tasks[task]!;
  /** Of the last call without options. */
  let plain: CallSettings | undefined;
  return {
    task,
    isStream,
    check,
    settings: (given, parentPriority) => {
      const merged = given === undefined ? own : mergeOptions(own, given);
      // The balancer "fifo" ignores priorities.
      const priority = balancer === "fifo" ? 0 : merged.priority ?? parentPriority;
      if (given === undefined && plain?.priority === priority) return plain;
      const settings = createSettings({
        hardTimeoutMs,
        ...merged,
        priority,
        affinity: { isNested: true },
      });
      if (given === undefined) plain = settings;
      return settings;
    },
  };
}
