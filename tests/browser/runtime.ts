/** In a browser this takes the place of `tests/support/runtime.ts`. */
import { absent } from "./absent.ts";

export const runtimeName = "browser";

/** As there: differences to other runtimes, in plain sight. */
export const capabilities = {
  usingSyntax: true,
  remoteModules: false, // they are all remote
  forbidsCode: false,
  resourceLimits: false,
  stopsLoops: true,
  permissions: false,
  deniesFolder: false,
  deniesNet: false,
  execArgv: false,
  printsUncaught: false,
  findsNestedMistakes: false,
  hidesTailCalls: false,
  tellsOfClosedPorts: false,
  hearsTlsErrors: false,
  clonesHugeHoles: true,
  seesMarks: false,
  capturesConsole: false,
  tellsConditions: false,
  countsFunctions: false,
} as const;

export const runScript = (): never => absent("scripts");

export const realSetTimeout = globalThis.setTimeout.bind(globalThis);
export const realClearTimeout = globalThis.clearTimeout.bind(globalThis);
export const realNow: () => number = performance.now.bind(performance);

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms));
}
