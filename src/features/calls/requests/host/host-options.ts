/** The option `host` of pools: functions of the host that its workers may call. */
import { describeValue } from "../../../../codec/support/describe.ts";
import { checkKeys, invalid, isRecord, ownOf, show } from "../../../../option-checks.ts";

/** Option `host` of `createPool`. */
export interface HostOptions {
  /**
   * Functions by name that tasks call by `host.call.name()` and `host.sync.name()`. They run in the host's event loop, with
   * cloned arguments; what they return or throw is sent back. An object, or a module (`import * as functions`).
   *
   * @see [host functions](https://github.com/heddle-js/heddle/blob/main/docs/nested-work.md#functions-of-the-host)
   */
  readonly functions: object;
}

/** The functions, by name. Throws InvalidArgumentError. */
export function checkHost(host: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(host)) throw invalid("host", "an object: host: { functions }", show(host));
  checkKeys("host", host, ["functions"]);
  const { functions } = ownOf<HostOptions>(host);
  if (!isRecord(functions)) {
    throw invalid("host.functions", "an object of functions by name", describeValue(functions));
  }
  const isModule = Object.prototype.toString.call(functions) === "[object Module]";
  for (const [name, f] of isModule ? [] : Object.entries(functions)) {
    if (typeof f !== "function") {
      throw invalid(`host.functions.${name}`, "a function", describeValue(f));
    }
  }
  return functions as Readonly<Record<string, unknown>>;
}
