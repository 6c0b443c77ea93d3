/**
 * `concurrency`: tasks of five requests each to a local server that answers after a while, all tasks at once. Wall time,
 * peak resident memory of the whole process, the same per task without what the process took before, and failed requests.
 * In a second table, tasks compute for 10 ms after each response: wall time and processor use.
 *
 * Each sample is a fresh process. The server is a process of its own and does not count.
 */
import {
  type Figures,
  nativePrograms,
  type Program,
  runProgram,
  scriptPrograms,
  type Server,
  startServer,
} from "../concurrency/programs.ts";
import type { Platform } from "../launch.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import * as concurrency from "./concurrency-cases.ts";

const MS_PER_S = 1000;
const BYTES_PER_KIB = 1024;
const KIB_PER_MIB = 1024;

/** A program that takes longer is left out. */
const MAX_RUN_MS = 60_000;
/** The time of the requests alone comes on top, several times. */
const MAX_RUN_DELAYS = 4 * concurrency.REQUESTS;

/** Turns of the contenders; a slow one has the first only. What is compared with the library's limits has two. */
const turnsOf = (table: concurrency.ConcurrencyTable, tasks: number, isQuick: boolean): number =>
  !isQuick && (table === concurrency.COMPUTING || tasks === Math.max(...concurrency.TASK_COUNTS))
    ? 2
    : 1;

type Found = RoundSamples | RoundGap;

interface Load {
  readonly table: concurrency.ConcurrencyTable;
  readonly tasks: number;
  readonly delayMs: number;
  readonly turns: number;
}

/** What a contender has in a figure: a sample of each turn. */
function figuresOf(program: Program, { table, tasks }: Load, found: readonly Figures[]): Found[] {
  const of = (
    figure: string,
    unit: RoundSamples["unit"],
    sample: (figures: Figures) => number,
  ): RoundSamples => ({
    contender: program.contender,
    case: concurrency.caseOf(table, figure),
    size: tasks,
    unit,
    samples: found.map(sample),
  });
  const wall = of(concurrency.WALL, "s", ({ wallMs }) => wallMs / MS_PER_S);
  const failed = of(
    concurrency.FAILED,
    "requests",
    ({ right }) => tasks * concurrency.REQUESTS - right,
  );
  if (table === concurrency.COMPUTING) {
    return [
      wall,
      of(concurrency.PROCESSOR, "%", ({ cpuMs, wallMs }) => 100 * cpuMs / wallMs),
      failed,
    ];
  }
  return [
    wall,
    of(concurrency.PEAK, "MiB", ({ peakKiB }) => peakKiB / KIB_PER_MIB),
    of(
      concurrency.PER_TASK,
      "bytes",
      ({ peakKiB, peakBeforeKiB }) => (peakKiB - peakBeforeKiB) * BYTES_PER_KIB / tasks,
    ),
    failed,
    ...(program.isHeddle === true ? [of(concurrency.START, "ms", ({ startMs }) => startMs)] : []),
  ];
}

/** The contenders in turn. */
class Turns {
  readonly #load: Load;
  readonly #figures = new Map<Program, Figures[]>();
  readonly #gaps: Found[] = [];
  readonly #givenUp = new Set<Program>();
  /** By command. */
  readonly #works = new Map<string, Promise<number>>();

  constructor(load: Load) {
    this.#load = load;
  }

  async take(programs: readonly Program[], server: Server): Promise<Found[]> {
    for (const program of programs) {
      if (program.left !== undefined) this.#giveUp(program, program.left);
    }
    for (let turn = 0; turn < this.#load.turns; turn++) {
      for (const program of programs) {
        if (this.#givenUp.has(program) || (turn > 0 && program.isSlow === true)) continue;
        await this.#run(program, server);
      }
    }
    const found = [...this.#figures].flatMap(([program, figures]) =>
      figuresOf(program, this.#load, figures)
    );
    return [...found, ...this.#gaps];
  }

  async #run(program: Program, { origin }: Server): Promise<void> {
    const { tasks, delayMs } = this.#load;
    const timeoutMs = MAX_RUN_MS + MAX_RUN_DELAYS * delayMs;
    try {
      const work = await this.#workOf(program);
      const figures = await runProgram<Figures>(program, { tasks, origin, work }, timeoutMs);
      const known = this.#figures.get(program);
      if (known === undefined) this.#figures.set(program, [figures]);
      else known.push(figures);
      const { error } = figures;
      if (typeof error === "string") {
        this.#addGap(program, concurrency.FAILED, `one of them: ${error}`);
      }
    } catch (error) {
      this.#giveUp(program, (error as Error).message);
    }
  }

  /** Units of work that take `WORK_MS`: found once for all programs of the same command. */
  async #workOf(program: Program): Promise<number> {
    if (this.#load.table !== concurrency.COMPUTING) return 0;
    const calibrate = async (): Promise<number> =>
      (await runProgram<{ work: number }>(
        program,
        { calibrateMs: concurrency.WORK_MS },
        MAX_RUN_MS,
      )).work;
    const command = program.command.join(" ");
    const work = this.#works.get(command) ?? calibrate();
    this.#works.set(command, work);
    return await work;
  }

  #giveUp(program: Program, reason: string): void {
    this.#givenUp.add(program);
    this.#addGap(program, concurrency.WALL, reason);
  }

  /** What others cannot do is their own affair. */
  #addGap({ contender, isHeddle = false }: Program, figure: string, reason: string): void {
    const { table, tasks } = this.#load;
    const isSkipped = !isHeddle;
    this.#gaps.push({
      contender,
      case: concurrency.caseOf(table, figure),
      size: tasks,
      reason,
      isSkipped,
    });
  }
}

/** Runs all programs with the table and the number of tasks named on the command line, and prints their figures. */
export async function run({ name, command }: Platform): Promise<never> {
  const { programs, remove } = name === "native"
    ? nativePrograms()
    : { programs: scriptPrograms(command), remove: () => {} };
  const { contender, variant, isQuick, delayMs: fullDelayMs } = readArguments();
  const table = contender as concurrency.ConcurrencyTable;
  const delayMs = table === concurrency.COMPUTING
    ? fullDelayMs / concurrency.COMPUTING_DELAY_DIVISOR
    : fullDelayMs;
  const tasks = Number(variant);
  const load = { table, tasks, delayMs, turns: turnsOf(table, tasks, isQuick) };
  const server = await startServer(delayMs);
  const found = await new Turns(load).take(programs, server);
  server.close();
  remove();
  return finish(found);
}
