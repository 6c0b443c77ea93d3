/** The options `workers` and `process` of `createPool`. */
import { InvalidArgumentError } from "../../../../errors.ts";
import { URL as BuiltinURL } from "../../../../builtins.ts";
import {
  checkInteger,
  checkKeys,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../../../option-checks.ts";
import { MAX_SENT } from "../../mirror/mirror-message.ts";
import type { ResourceLimits } from "../../../../runtimes/runtime.ts";
import type { ProcessOptions } from "../../../../runtimes/processes/types.ts";

/** How the processes of a pool are started. An option that is not given has the value of the host process. */
export interface ProcessPoolOptions {
  /**
   * The working directory of the processes.
   *
   * @default that of this process
   */
  readonly cwd?: string | URL;
  /**
   * The program that they run: Node, Deno or Bun, also another one than this process runs on.
   *
   * @default the program of this process
   */
  readonly execPath?: string;
  /**
   * When processes end whose host has ended, also by SIGKILL. "end": when they return to their event loop. "kill": within a second,
   * also in an endless loop. For that each process has a further thread (6 to 8 MiB), which checks every second.
   *
   * @default "end"
   */
  readonly orphans?: "end" | "kill";
  /**
   * Most calls that a process gets before it has begun them: an integer from 1. With more a process need not wait for its host
   * between two calls.
   *
   * @default 64
   */
  readonly isolate?: number;
}

/** Checks the option `workers`. */
export function checkKind(given: unknown): "threads" | "processes" {
  if (given === "threads" || given === "processes") return given;
  throw invalid("workers", '"threads" or "processes"', show(given));
}

/** Checks the option `process`. */
export function checkProcess(
  given: unknown,
): Omit<ProcessOptions, "heapFlags" | "words"> & { readonly isolate: number | undefined } {
  if (!isRecord(given)) throw invalid("process", "an object of options", show(given));
  checkKeys("process of createPool()", given, ["cwd", "execPath", "isolate", "orphans"]);
  const { cwd, execPath, isolate, orphans = "end" } = ownOf<ProcessPoolOptions>(given);
  const isPlace = cwd === undefined || cwd instanceof BuiltinURL ||
    (typeof cwd === "string" && cwd !== "");
  if (!isPlace) throw invalid("process.cwd", "the path or URL of a folder", show(cwd));
  if (execPath !== undefined && (typeof execPath !== "string" || execPath === "")) {
    throw invalid("process.execPath", "the path of Node, Deno or Bun", show(execPath));
  }
  if (orphans !== "end" && orphans !== "kill") {
    throw invalid("process.orphans", '"end" or "kill"', show(orphans));
  }
  return {
    isGuarded: orphans === "kill",
    isolate: isolate === undefined
      ? undefined
      : checkInteger("process.isolate", isolate, 1, MAX_SENT),
    cwd: cwd === undefined ? undefined : String(cwd),
    execPath,
  };
}

const NO_LIMITS = "resourceLimits cannot be enforced: Bun has no limits of heap and stack.";

/** Flags of V8 for limits of heap and stack. `isBun`: the processes have none. */
export function heapFlagsOf(limits: ResourceLimits | undefined, isBun: boolean): readonly string[] {
  if (limits === undefined) return [];
  if (isBun) throw new InvalidArgumentError(NO_LIMITS);
  const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb, stackSizeMb, codeRangeSizeMb } = limits;
  if (codeRangeSizeMb !== undefined) {
    throw new InvalidArgumentError(
      "resourceLimits.codeRangeSizeMb is for threads: processes have no such limit.",
    );
  }
  return [
    ...(maxOldGenerationSizeMb === undefined
      ? []
      : [`--max-old-space-size=${Math.ceil(maxOldGenerationSizeMb)}`]),
    // The flag is the size of one of three equal parts.
    ...(maxYoungGenerationSizeMb === undefined
      ? []
      : [`--max-semi-space-size=${Math.max(1, Math.ceil(maxYoungGenerationSizeMb / 3))}`]),
    ...(stackSizeMb === undefined ? [] : [`--stack-size=${Math.ceil(stackSizeMb * 1024)}`]),
  ];
}
