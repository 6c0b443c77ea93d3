/** Measures one scenario on one runtime: contenders take turns round by round. */
import { COMMIT, describeMachine } from "../harness/machine.ts";
import { pairedRatio } from "../harness/paired.ts";
import { runProcess } from "../harness/processes.ts";
import type {
  Failure,
  Measurement,
  RoundFigure,
  RoundGap,
  RoundLine,
  ScenarioResult,
} from "../harness/schema.ts";
import { summarize } from "../harness/statistics.ts";
import type { ReferenceSpin } from "./busy.ts";
import type { Choices, Contender, Scenario } from "./scenario.ts";
import { log } from "./terminal.ts";

export interface Run {
  readonly name: string;
  readonly scenario: Pick<Scenario, "rounds" | "derived" | "timeoutMs" | "isPooled" | "pairedWith">;
  readonly runtime: string;
  readonly version: string;
  readonly choices: Choices;
  readonly contenders: readonly Contender[];
  readonly command: (contender: Contender) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
}

export const roundsOf = ({ rounds }: Pick<Scenario, "rounds">, { isQuick }: Choices): number =>
  rounds[isQuick ? 0 : 1];

const CHILD_TIMEOUT_MS = 120_000;

/** `startProcess` is called with the name of each contender before its process starts. */
export async function measure(
  run: Run,
  reference: ReferenceSpin,
  startProcess: (contender: string) => void,
): Promise<ScenarioResult> {
  const { name, runtime, version, choices, contenders, versions } = run;
  const { derived, isPooled = false } = run.scenario;
  const startedAt = performance.now();
  const collected = new Collected(run);
  const beforeMs = await reference.measureBefore();
  const total = roundsOf(run.scenario, choices);
  for (let number = 1; number <= total; number++) {
    for (const contender of contenders) {
      if (collected.isGivenUp(contender)) continue;
      startProcess(contender.name);
      await collected.add(contender);
    }
  }
  const afterMs = await reference.measure();
  const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(1));
  log(`${runtime} ${name} took ${seconds} s`);
  const measurements = [...collected.figures.values()].map((figure) => ({
    ...summarize(figure.contender, isPooled ? [pooled(figure.rounds)] : figure.rounds),
    ...collected.pair(figure),
  }));
  return {
    schema: 1,
    scenario: name,
    runtime,
    version,
    isQuick: choices.isQuick,
    date: new Date().toISOString(),
    seconds,
    commit: COMMIT,
    machine: describeMachine(),
    reference: reference.describe(beforeMs, afterMs),
    versions,
    cases: [...collected.cases],
    measurements: derived.reduce<Measurement[]>((all, derive) => derive(all), measurements),
    failures: collected.failures,
  };
}

export const countFailed = ({ failures }: ScenarioResult): number =>
  failures.filter(({ isSkipped }) => !isSkipped).length;

/** All rounds of a figure as one. */
const pooled = (rounds: readonly RoundFigure[]): RoundFigure => ({
  ...rounds[0]!,
  samples: rounds.flatMap(({ samples }) => samples),
  count: rounds.reduce((sum, { count }) => sum + count, 0),
});

const keyOf = (contender: string, name: string, size: number): string =>
  `${contender}\n${name}\n${size}`;

/** What one contender has of a case and size. */
interface Collection {
  readonly contender: string;
  /** The kind of process that measured it. */
  readonly process: string;
  readonly rounds: RoundFigure[];
}

/** Figures of all rounds, and what has none. */
class Collected {
  readonly cases = new Set<string>();
  readonly failures: Failure[];
  readonly figures = new Map<string, Collection>();
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
    this.failures = run.contenders.flatMap(({ name, left }) =>
      left === undefined ? [] : [{ contender: name, reason: left, isSkipped: true }]
    );
  }

  isGivenUp({ name }: Contender): boolean {
    return this.failures.some((each) => each.contender === name && each.case === undefined);
  }

  async add(contender: Contender): Promise<void> {
    const { name, runtime, command, env, scenario, choices } = this.#run;
    const timeoutMs = scenario.timeoutMs?.(choices) ?? CHILD_TIMEOUT_MS;
    try {
      for (const line of await runProcess<RoundLine[]>(command(contender), { timeoutMs, env })) {
        this.cases.add(line.case);
        if ("reason" in line) this.#addGap(contender, line);
        else this.#addFigure(line.contender ?? contender.name, contender.name, line);
      }
    } catch (error) {
      const reason = (error as Error).message;
      log(`FAILED ${runtime} ${name} ${contender.name}: ${reason}`);
      this.failures.push({
        contender: contender.name,
        reason: reason.split("\n")[0]!,
        ...(contender.isPeer === true ? { isSkipped: true } : {}),
      });
    }
  }

  #addFigure(contender: string, process: string, line: RoundFigure): void {
    const key = keyOf(contender, line.case, line.size);
    const known = this.figures.get(key);
    if (known === undefined) this.figures.set(key, { contender, process, rounds: [line] });
    else known.rounds.push(line);
  }

  /** Its ratio to the contender that the scenario pairs all others with, if there is one. */
  pair({ contender, process, rounds }: Collection): Pick<Measurement, "paired"> {
    const to = this.#run.scenario.pairedWith?.(contender);
    if (to === undefined || to === contender) return {};
    const [{ case: name, size, blocks }] = rounds as [RoundFigure];
    const other = this.figures.get(keyOf(to, name, size));
    // Blocks of another process are no neighbours.
    if (other === undefined || (blocks !== undefined && process !== other.process)) return {};
    const paired = pairedRatio(rounds, to, other.rounds);
    return paired === undefined ? {} : { paired };
  }

  /** Takes up what a round could not measure, once. */
  #addGap(contender: Contender, line: RoundGap): void {
    const gap: Failure = {
      ...line,
      contender: line.contender ?? contender.name,
      isSkipped: line.isSkipped || contender.isPeer === true ||
        contender.peers?.includes(line.contender ?? "") === true,
    };
    const isKnown = this.failures.some((each) =>
      each.contender === gap.contender && each.case === gap.case && each.size === gap.size
    );
    if (isKnown) return;
    this.failures.push(gap);
    if (gap.isSkipped) return;
    const { name, runtime } = this.#run;
    log(`FAILED ${runtime} ${name} ${gap.contender}, ${gap.case}: ${gap.reason}`);
  }
}
