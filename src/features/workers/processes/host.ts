/** Workers that are processes: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { Given, OptionsRuntime, Resolving } from "../../../api/options/resolved-options.ts";
import { COPIES_ONLY } from "../../../codec/support/refusal.ts";
import { InvalidArgumentError, WorkerStartError } from "../../../errors.ts";
import type { HostRuntime } from "../../../runtimes/runtime.ts";
import { mirror } from "../mirror/host.ts";
import { checkKind, checkProcess, heapFlagsOf } from "./host/process-options.ts";
import { ProcessWorker } from "./host/process-worker.ts";

const NO_PROCESSES = 'workers: "processes" needs Node, Deno or Bun: browsers have no processes.';
const IN_BUNDLE =
  'workers: "processes" starts with a file of heddle: a bundle that contains heddle has none. Keep heddle out of the bundle.';
const NO_PERMISSION =
  'permission is for threads: give workers: "processes" the flags of their runtime, worker.execArgv.';
const NO_LIMITS = "resourceLimits cannot be enforced: Bun has no limits of heap and stack.";

function useProcesses(to: Resolving, given: Given, runtime: OptionsRuntime): void {
  const { spawnProcess } = runtime;
  if (spawnProcess === undefined) throw new InvalidArgumentError(NO_PROCESSES);
  if (given.transport === "shared") {
    throw new InvalidArgumentError(
      'transport: "shared" is for threads: processes share no memory.',
    );
  }
  mirror.options!.transport!("messages", to, given, runtime);
  const { isolate, ...options } = checkProcess(given.process ?? {}, runtime.toPath!);
  const { resourceLimits, permission } = to.workerLimits;
  if (permission !== undefined) throw new InvalidArgumentError(NO_PERMISSION);
  const heapFlags = heapFlagsOf(resourceLimits);
  if (heapFlags.length > 0 && !runtime.limitsProcesses!(options.execPath)) {
    throw new InvalidArgumentError(NO_LIMITS);
  }
  to.copiesOnly = COPIES_ONLY;
  to.spawnWorker = (entry, _name, _limits, _modules, thread) => {
    if (entry.mark !== undefined) throw new WorkerStartError(IN_BUNDLE);
    return new ProcessWorker(
      spawnProcess(entry, thread, { ...options, heapFlags }),
      runtime as unknown as HostRuntime,
      { maxSent: isolate, maxPayloadBytes: to.maxPayloadBytes },
    );
  };
}

export const processes: HostFeature = {
  name: "processes",
  needs: ["mirror"],

  options: {
    workers: (value, to, given, runtime) => {
      if (checkKind(value) === "processes") useProcesses(to, given, runtime);
    },
    process: (_value, to) => {
      if (to.spawnWorker === undefined) {
        throw new InvalidArgumentError('process is for workers: "processes".');
      }
    },
  },
};
