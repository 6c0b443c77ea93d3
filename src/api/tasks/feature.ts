/** How a feature adds to declarations of tasks. `task()` may run where there are no pools, so it has features of its own. */
import type { Signature } from "../../codec/declared.ts";
import type { OptionFeature } from "../options/feature.ts";
import type { Declared } from "./task-types.ts";

/** The options that a declaration has beside those of calls, by name. */
type Declaration = Readonly<Record<string, unknown>>;

/** What a feature adds to `task()` and `importTask()`. */
export interface TaskFeature extends Pick<OptionFeature, "name" | "callOptions"> {
  /** Further options of `task()`, in the order of messages. */
  readonly taskOptions?: readonly string[];
  /**
   * Checks these options, and returns what heddle has to know of the task. `f`: its function, unless it is imported. Throws
   * InvalidArgumentError.
   */
  readonly declare?: (
    given: Declaration,
    f: ((...args: unknown[]) => unknown) | undefined,
  ) => Declared;
}

/** Makes the signature of a task of its description by a worker. */
export type RebuildSignature = (
  args: readonly unknown[] | undefined,
  returns: unknown,
) => Signature;

/** What a feature adds to the tasks of a host. */
export interface SignatureFeature {
  readonly name: string;
  /** Loads what makes signatures of descriptions, once a module declares some. */
  readonly loadSignatures?: () => Promise<RebuildSignature>;
}

/** What a feature has added. */
export const signatures: Omit<SignatureFeature, "name"> = {};
