/** What workers may ask of the host of a pool: the functions of the option `host`, and the pool's own tasks. */
import { Map } from "../../../../builtins.ts";
import type { AnyCallback } from "../callback-value.ts";
import { type HeddleError, UnknownFunctionError } from "../../../../errors.ts";
import { type CallSettings, createSettings } from "../../../../host/calls/call-settings.ts";
import { HostRequests } from "./host-requests.ts";
import type { NestedTask } from "./nested-requests.ts";
import { unknownTask } from "../../../../api/calls/call-proxy.ts";
import { didYouMean } from "../../../../option-checks.ts";
import { mergeOptions } from "../../../../api/options/call-options.ts";
import type { PoolSpec } from "../../../../api/tasks/pool-spec.ts";
import { createCancellation } from "../../limits/host/parts.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

export function createRequests(parts: PoolParts): HostRequests {
  const { spec, codec, snapshots, dispatcher } = parts;
  const cancellation = parts.part(createCancellation);
  const { options, sources, signatures } = spec;
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
  const hasWorker = (): boolean => parts.hasWorker;
  dispatcher.waiting.hasWorker = hasWorker;
  return new HostRequests({
    codec,
    snapshots,
    dispatcher,
    cancellation,
    signatures,
    hasContext: options.capture !== undefined,
    findFunction: (name) => findFunction(options.hostFunctions ?? {}, name),
    findTask,
    nameOf: (task) => sources[task % sources.length]?.name ?? "?",
    hasWorker,
    isClosed: () => parts.isOver,
    takeResponses: () => parts.takeResponses(),
  });
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
