/**
 * A way to call one function in one worker, as a program meets it when it starts: what `cold`, `sporadic` and
 * `contended` compare.
 */
import type { EchoCalls } from "./echo-contender.ts";

export interface OneWorkerLibrary {
  /** Creates the worker, and does not wait for it: calls may be made at once. */
  start(): EchoCalls;
}

export interface OneWorkerContender {
  readonly name: string;
  /** Imports what a program imports. */
  load(): Promise<OneWorkerLibrary>;
}
