/** The options of a pool of processes. */
import type { Given, OptionsRuntime, Resolving } from "../../../../api/options/resolved-options.ts";
import { COPIES_ONLY } from "../../../../codec/support/refusal.ts";
import { InvalidArgumentError, WorkerStartError } from "../../../../errors.ts";
import { Promise } from "../../../../builtins.ts";
import type { ProcessOptions } from "../../../../runtimes/processes/types.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";
import { mirror } from "../../mirror/host.ts";
import { LateWorker } from "./late-worker.ts";
import { FIRST_WORDS } from "../shared-file.ts";
import { checkKind, checkProcess, heapFlagsOf } from "./process-options.ts";

const NO_PROCESSES = 'workers: "processes" cannot be: browsers have none.';
const IN_BUNDLE =
  'workers: "processes" starts with a file of heddle: a bundle that contains heddle has none. Keep heddle out of the bundle.';
const NO_PERMISSION =
  'permission is for threads: give workers: "processes" the flags of their runtime, worker.execArgv.';
const NO_SHARED = "worker.env: SHARE_ENV is for threads: a child has an environment of its own.";
const IS_BUN = /bun(?:\.exe)?$/i;

/** The option `workers`: they are processes from now on, which `loadWorker` makes. Throws InvalidArgumentError. */
export function useProcesses(
  kind: unknown,
  to: Resolving,
  given: Given,
  runtime: OptionsRuntime,
  loadWorker: () => Promise<typeof import("./process-worker.ts")>,
): void {
  if (checkKind(kind) === "threads") return;
  const { loadProcesses } = runtime;
  if (loadProcesses === undefined) throw new InvalidArgumentError(NO_PROCESSES);
  if (given.transport === "shared") {
    throw new InvalidArgumentError(
      'transport: "shared" is for threads: processes share no memory.',
    );
  }
  mirror.options!.transport!("messages", to, given, runtime);
  if (typeof to.workerOptions.thread.env === "symbol") throw new InvalidArgumentError(NO_SHARED);
  const { isolate, ...options } = checkProcess(given.process ?? {});
  const { resourceLimits, permission } = to.workerLimits;
  if (permission !== undefined) throw new InvalidArgumentError(NO_PERMISSION);
  const { execPath } = options;
  const isBun = execPath === undefined ? runtime.importCondition === "bun" : IS_BUN.test(execPath);
  const heapFlags = heapFlagsOf(resourceLimits, isBun);
  const { maxPayloadBytes } = to;
  to.copiesOnly = COPIES_ONLY;
  to.spawnWorker = (entry, _name, _limits, _modules, thread, workerId) => {
    if (entry.mark !== undefined) throw new WorkerStartError(IN_BUNDLE);
    return new LateWorker(async () => {
      const [spawnProcess, { ProcessWorker }] = await Promise.all([
        loadProcesses(),
        loadWorker(),
      ]);
      return () => {
        const child = spawnProcess(entry, thread, {
          ...options,
          heapFlags,
          words: FIRST_WORDS,
          onOutput: outputOf(to, workerId),
        });
        return new ProcessWorker(child, runtime as unknown as Runtime, maxPayloadBytes);
      };
    }, isolate);
  };
}

/** Takes what a process prints (option `output`). */
function outputOf(
  { output = "inherit" }: Resolving,
  workerId: number,
): ProcessOptions["onOutput"] {
  if (output === "inherit") return undefined;
  return (stream, text) => {
    if (output !== "ignore") output(text, { workerId, stream, call: undefined });
  };
}
