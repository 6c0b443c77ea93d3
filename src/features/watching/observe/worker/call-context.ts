/**
 * The option `context`: runs each task inside the function `run` of the user's module, with what the host captured when the
 * call was made.
 */
import { textOf } from "../../../../codec/kinds/errors.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import type { WorkerRuntime } from "../../../../runtimes/runtime.ts";
import { importModule, type ImportRuntime } from "../../../../worker/loading/import-module.ts";
import { seams } from "../../../../worker/feature.ts";
import type { TaskCall, TaskWrap } from "../../../../worker/task.ts";

/** The `run` that a context module exports. */
type RunInContext = (
  context: unknown,
  task: () => unknown,
  call: { readonly task: string },
) => unknown;

export class CallContext implements TaskWrap {
  readonly mayDelay = true;
  readonly #run: RunInContext;
  readonly #names: readonly string[];
  readonly #runtime: Pick<WorkerRuntime, "bindContext">;

  /** `names`: those of the tasks, by index. */
  constructor(
    run: RunInContext,
    names: readonly string[],
    runtime: Pick<WorkerRuntime, "bindContext">,
  ) {
    this.#run = run;
    this.#names = names;
    this.#runtime = runtime;
  }

  /** Loads the module at `url`. Throws what it throws, or InvalidArgumentError. */
  static async load(
    url: string,
    names: readonly string[],
    runtime: ImportRuntime & Pick<WorkerRuntime, "bindContext">,
  ): Promise<CallContext> {
    const { module: { run } } = await importModule(url, runtime);
    if (typeof run === "function") return new CallContext(run as RunInContext, names, runtime);
    throw new InvalidArgumentError(
      `The context module ${url} must export a function run(context, task), got ${textOf(run)}.`,
    );
  }

  /** What the host captured is the last argument. */
  before(call: TaskCall, args: unknown[]): void {
    call.context = args.pop();
    call.name = call.task.nameOf?.(args);
  }

  /** The code of a generator keeps the asynchronous context of its call. */
  run({ task: { index, isStream }, context, name }: TaskCall, f: () => unknown): unknown {
    const task = name ?? this.#names[index % this.#names.length]!;
    const run = this.#run;
    const bind = () => this.#runtime.bindContext();
    return run(context, isStream ? () => seams.results!.bind(f(), bind) : f, { task });
  }
}
