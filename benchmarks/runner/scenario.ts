/** What a scenario is: all that runs, tables and lists know of it. */
import type { Derive } from "../harness/derived.ts";
import type { TableSpec } from "../harness/row-table.ts";
import type { ScenarioResult } from "../harness/schema.ts";

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
  /** How often each process runs: in a quick run, and in a full one. */
  readonly rounds: readonly [quick: number, full: number];
  /** `runtime` is empty where a list is asked for. */
  readonly contenders: (choices: Choices, runtime: string) => readonly Contender[];
  /** One sample a process: rounds are put together instead of compared. */
  readonly isPooled?: boolean;
  /** Who the others are compared with in pairs: contenders take turns, in one process or in alternating ones. */
  readonly pairedWith?: (contender: string) => string;
  /** Figures that follow from others. */
  readonly derived: readonly Derive[];
  /** The table of a result. */
  readonly table: TableSpec | ((result: ScenarioResult) => string[]);
  /** Where it runs, if not on the three runtimes alone: `native` is programs in other languages. */
  readonly on?: readonly string[];
  /** `quick`: a quick run measures it if none is named, what a newcomer asks first. `named`: it runs only when asked for. */
  readonly when?: "quick" | "named";
  /** Versions of what only this scenario compares. */
  readonly versions?: (runtime: string) => Readonly<Record<string, string>>;
  /** A process that takes longer than this hangs; milliseconds. */
  readonly timeoutMs?: (choices: Choices) => number;
}

export type Scenarios = Readonly<Record<string, Scenario>>;

export const SCRIPTS = ["node", "deno", "bun"] as const;
