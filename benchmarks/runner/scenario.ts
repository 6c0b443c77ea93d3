/** What a scenario is to the runner: which processes it has, how often they run, what follows from their figures. */
import type { Measurement } from "../harness/schema.ts";

/** One kind of process of a scenario, run once per round. */
export interface Contender {
  readonly name: string;
  /** The name without what tells its processes apart. */
  readonly variantOf?: string;
  readonly args: readonly string[];
  /** Comes before the command. */
  readonly prefix?: readonly string[];
  /** Why it is not run this time. */
  readonly left?: string;
  /** What it cannot do is its own affair, no failure of the run. */
  readonly isPeer?: boolean;
  /** Those of which the same is true, in a process that has several. */
  readonly peers?: readonly string[];
}

export interface Choices {
  readonly isQuick: boolean;
  /** heavy-load: workers beside the main thread, up to this many. */
  readonly threads: number;
  /** soak: how long. */
  readonly soakMinutes: number;
  /** concurrency: how long the server waits before it answers. */
  readonly delayMs: number;
  /** Whether a checkout of Knitting is there to be measured. */
  readonly hasKnitting: boolean;
}

export interface Scenario {
  /** One line for people. */
  readonly about: string;
  readonly rounds: (choices: Choices) => number;
  /** `runtime` is empty where a list is asked for. */
  readonly contenders: (choices: Choices, runtime: string) => readonly Contender[];
  /** One sample a process: rounds are put together instead of compared. */
  readonly isPooled?: boolean;
  /** Who the others are compared with in pairs: contenders take turns, in one process or in alternating ones. */
  readonly pairedWith?: (contender: string) => string;
  readonly finish: (measurements: Measurement[]) => Measurement[];
  /** Only when asked for by name. */
  readonly isExtra?: boolean;
  /** What a quick run measures if none is named: what a newcomer asks first. */
  readonly isInQuick?: boolean;
  /** Whether Tokio has figures of it too. */
  readonly withTokio?: boolean;
  /** Whether programs in other languages have figures of it too, as `native`. */
  readonly withNative?: boolean;
  /** Whether a browser alone has figures of it, as `browser`. */
  readonly isInBrowser?: boolean;
  /** Versions of what only this scenario compares. */
  readonly versions?: (runtime: string) => Readonly<Record<string, string>>;
  /** A process that takes longer than this hangs; milliseconds. */
  readonly timeoutMs?: (choices: Choices) => number;
}
