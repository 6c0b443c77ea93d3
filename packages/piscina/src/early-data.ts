/**
 * `workerData` for modules that `execArgv` imports into a thread: Node runs them before heddle, whose setup brings it (Angular's
 * prerendering hands it to hooks of modules). The host lends it to the thread that it starts as environment data, and a module in front of theirs takes it.
 */
import process from "node:process";
import type { FilledOptions } from "./options.ts";
import { hasThreadLimits } from "./runtime.ts";

const KEY = "heddle.piscina.workerData";

/** Only if there is none: a thread that starts from a bundle has heddle's mark there. */
const SOURCE = `import threads from "node:worker_threads";
import { syncBuiltinESMExports } from "node:module";
if (threads.workerData == null) threads.workerData = threads.getEnvironmentData("${KEY}");
threads.setEnvironmentData("${KEY}");
syncBuiltinESMExports();`;

export const EARLY_IMPORT: string = `--import=data:text/javascript,${encodeURIComponent(SOURCE)}`;

/** Whether modules of the program run before heddle, and could read data. */
export const readsEarly = ({ execArgv, workerData }: FilledOptions): boolean =>
  hasThreadLimits && workerData !== undefined &&
  execArgv?.some((flag) => String(flag).startsWith("--import")) === true;

/** Starts a thread that may read its data early. Data that the runtime cannot clone, but heddle, comes with the setup alone. */
export function offerEarly<Started>(options: FilledOptions, start: () => Started): Started {
  if (!readsEarly(options)) return start();
  const { setEnvironmentData } = process.getBuiltinModule("node:worker_threads");
  try {
    structuredClone(options.workerData);
  } catch {
    return start();
  }
  setEnvironmentData(KEY, options.workerData as string);
  try {
    return start();
  } finally {
    setEnvironmentData(KEY, undefined);
  }
}
