/** The options `metrics`, `debug`, `context` and `output` of `createPool`. */
import { URL as BuiltinURL } from "../../../../builtins.ts";
import type { OptionsRuntime } from "../../../../api/options/resolved-options.ts";
import { DEBUG_TOPICS, type DebugTopic } from "./debug-log.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { checkKeys, invalid, isObject, isRecord, ownOf, show } from "../../../../option-checks.ts";

/** What each call carries to its worker, and how its task runs there. */
export interface ContextOptions {
  /**
   * Called when a call is made, in the caller's asynchronous context. What it returns is cloned and travels with the call.
   * If it throws, or the value cannot be cloned, the call rejects with that.
   */
  readonly capture: () => unknown;
  /**
   * Functions cannot be sent to threads, so this is the module that exports it: a URL, a path relative to the
   * module that calls `createPool`, or the name of a package. Its export
   * `run(context, task, { task: name })` is called for each call, must call `task()` and return what that returns, perhaps
   * later. For a generator task it is called once, and the generator keeps its asynchronous context.
   */
  readonly run: URL | string;
}

/** Where a text was printed. */
export interface OutputSource {
  /** Number of the worker within its pool. */
  readonly workerId: number;
  /** The stream to which it was written. */
  readonly stream: "stdout" | "stderr";
  /**
   * The call that printed it, also after an `await`: the name of its task (of a method `Engine.query`), and a number that no other
   * call of the pool has meanwhile. Undefined: it was no call but a module or a timer, or the worker is a process.
   */
  readonly call: { readonly task: string; readonly id: number } | undefined;
}

/**
 * Where the output of workers goes: see {@link PoolOptions.output}.
 *
 * @param text Whole lines, each with its end. The last line of a call may have none.
 * @param source Where it was printed.
 */
export type OutputOption =
  | "inherit"
  | "ignore"
  | ((text: string, source: OutputSource) => void);

/** The topics of the variable HEDDLE_DEBUG: a list with commas. Other words, such as `1`, mean all: a variable for a diagnosis must not stop the program. */
export function debugOf(variable: string): readonly DebugTopic[] | undefined {
  if (["", "0", "false"].includes(variable)) return undefined;
  const words = variable.split(",").map((word) => word.trim());
  const topics = DEBUG_TOPICS.filter((topic) => words.includes(topic));
  return topics.length === 0 ? DEBUG_TOPICS : topics;
}

/** Checks the option `debug`. */
export function checkDebug(given: unknown): readonly DebugTopic[] | undefined {
  if (given === false) return undefined;
  if (given === true) return DEBUG_TOPICS;
  const isList = Array.isArray(given) &&
    given.every((topic) => (DEBUG_TOPICS as readonly unknown[]).includes(topic));
  if (isList) return given.length === 0 ? undefined : [...given] as DebugTopic[];
  const shown = Array.isArray(given) ? given.map(show).join(", ") : show(given);
  throw invalid("debug", `a boolean or a list of ${DEBUG_TOPICS.join(", ")}`, shown);
}

/** Checks the option `context`; `inliner` is the other option, as it is given. */
export function checkContext(
  given: unknown,
  inliner: unknown,
): { readonly capture: () => unknown; readonly run: string } {
  if (inliner !== undefined && inliner !== false) {
    throw new InvalidArgumentError(
      "context cannot be combined with inliner: the host does not load the module of context.run.",
    );
  }
  if (!isObject(given) || !isRecord(given)) {
    throw invalid("context", "{ capture, run }", show(given));
  }
  checkKeys("context of createPool()", given, ["capture", "run"]);
  const { capture, run } = ownOf<ContextOptions>(given);
  if (typeof capture !== "function") throw invalid("context.capture", "a function", show(capture));
  if (typeof run === "function") {
    throw new InvalidArgumentError(
      "context.run must be the URL of a module that exports run(context, task), got a function: " +
        "functions cannot be sent to threads.",
    );
  }
  if (!(typeof run === "string" || run instanceof BuiltinURL)) {
    throw invalid("context.run", "the URL, path or package name of a module", show(run));
  }
  return { capture: capture as () => unknown, run: String(run) };
}

const NO_OUTPUT = "output cannot be taken: a browser shows what workers print in its own tools.";

/** Checks the option `output`. Its function throws nothing. */
export function checkOutput(given: unknown, { takesOutput, warn }: OptionsRuntime): OutputOption {
  if (given !== "inherit" && given !== "ignore" && typeof given !== "function") {
    throw invalid("output", '"inherit", "ignore" or a function', show(given));
  }
  if (takesOutput === false && given !== "inherit") throw new InvalidArgumentError(NO_OUTPUT);
  if (typeof given !== "function") return given as OutputOption;
  return (text, source) => {
    try {
      given(text, source);
    } catch (error) {
      warn?.("heddle: the function output of a pool threw:", error);
    }
  };
}
