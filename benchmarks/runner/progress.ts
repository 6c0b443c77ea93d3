/** What a run will do, how long that takes, and how far it has come. */
import { existsSync, readFileSync } from "node:fs";
import type { ScenarioResult } from "../harness/schema.ts";
import { isTerminal, log, showStatus } from "./terminal.ts";

/** One scenario on one runtime. */
export interface Step {
  readonly name: string;
  readonly runtime: string;
  /** Processes that it starts. */
  readonly processes: number;
  /** How long it is expected to take. */
  readonly seconds: number;
}

/** Where nothing is known: the mean of the reference machine. */
const SECONDS_A_PROCESS = { quick: 1.2, full: 3.3 } as const;
const BAR_WIDTH = 20;

/** The time that a kept result of the same kind took, or a guess by the number of processes. */
export function expectedSeconds(file: string, processes: number, isQuick: boolean): number {
  if (existsSync(file)) {
    const { seconds, isQuick: wasQuick } = JSON.parse(readFileSync(file, "utf8")) as ScenarioResult;
    if (seconds !== undefined && wasQuick === isQuick) return seconds;
  }
  return processes * SECONDS_A_PROCESS[isQuick ? "quick" : "full"];
}

/** `45 s`, `12 min`, `1 h 05 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

const sumOf = (steps: readonly Step[]): number =>
  steps.reduce((sum, { seconds }) => sum + seconds, 0);

/** One line for each scenario, and the whole. */
export function describePlan(steps: readonly Step[], folder: string): string {
  const names = [...new Set(steps.map(({ name }) => name))];
  const lines = names.map((name) => {
    const own = steps.filter((step) => step.name === name);
    const runtimes = own.map(({ runtime }) => runtime).join(", ");
    return `  ${name.padEnd(15)} ${formatDuration(sumOf(own)).padStart(10)}  ${runtimes}`;
  });
  const processes = steps.reduce((sum, step) => sum + step.processes, 0);
  return [
    `${names.length} scenarios, ${processes} processes, about ${formatDuration(sumOf(steps))}:`,
    ...lines,
    `Results and charts go to ${folder}. Leave the machine alone meanwhile; Ctrl+C ends the run.`,
  ].join("\n");
}

/** Follows the steps of a run. The time left is corrected by how long the finished steps took. */
export class Progress {
  readonly #steps: readonly Step[];
  readonly #now: () => number;
  readonly #startedAt: number;
  #at = 0;
  #processes = 0;

  /** `now` gives seconds. */
  constructor(steps: readonly Step[], now: () => number = () => performance.now() / 1000) {
    this.#steps = steps;
    this.#now = now;
    this.#startedAt = now();
  }

  /** Seconds until the end, by what has been done so far. */
  secondsLeft(): number {
    const total = sumOf(this.#steps);
    const done = sumOf(this.#steps.slice(0, this.#at)) + this.#secondsOfProcesses();
    const elapsed = this.#now() - this.#startedAt;
    // The first steps say little about the others.
    const pace = done < total / 20 ? 1 : elapsed / done;
    return Math.max(0, (total - done) * pace);
  }

  #secondsOfProcesses(): number {
    const step = this.#steps[this.#at];
    return step === undefined
      ? 0
      : step.seconds * Math.min(1, this.#processes / Math.max(1, step.processes));
  }

  describe(contender: string): string {
    const step = this.#steps[this.#at]!;
    const place = `${this.#at + 1}/${this.#steps.length} ${step.runtime} ${step.name}`;
    const left = `about ${formatDuration(this.secondsLeft())} left`;
    if (!isTerminal) return `${place}: ${contender}, ${left}`;
    const done = Math.round(BAR_WIDTH * this.#at / this.#steps.length);
    const bar = "#".repeat(done).padEnd(BAR_WIDTH, "-");
    return `[${bar}] ${left}  ${place}: ${contender}`;
  }

  /** A process of the step begins. */
  startProcess(contender: string): void {
    if (isTerminal) showStatus(this.describe(contender));
    else log(this.describe(contender));
    this.#processes++;
  }

  /** The step has ended, well or not. */
  endStep(): void {
    this.#at++;
    this.#processes = 0;
    if (this.#at === this.#steps.length) showStatus("");
  }
}
