/**
 * `programs`: the same small programs in every language, each a process of its own that is measured from outside:
 * seconds, processor time, peak memory; and the size of the source. Then what workers cost in themselves.
 */
import { type Program, PROGRAMS, type Scale, scaled } from "../programs/catalogue.ts";
import {
  commandOf,
  type Language,
  languageOf,
  sourceOf as fileOf,
  whyMissing,
} from "../programs/languages.ts";
import { runProgram, scriptCommand, sourceBytes } from "../programs/run-program.ts";
import type { Platform } from "../launch.ts";
import { attempt, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { measureUtilisation } from "./fasta-utilisation.ts";
import { measureGoroutines } from "./goroutines.ts";
import * as programs from "./programs-cases.ts";
import { measureWorkers } from "./worker-costs.ts";

type Lines = (RoundSamples | RoundGap)[];

const scaleOf = (isQuick: boolean): Scale => isQuick ? "quick" : "full";

/** One run of a program: its figures, or why there are none. `command` is called once. */
function measureProgram(
  program: Program,
  language: string,
  scale: Scale,
  command: () => readonly string[],
  after: readonly string[] = [],
): Lines {
  const { name } = program;
  const { size } = scaled(program, language, scale);
  try {
    const parts = command();
    const { seconds, cpuSeconds, peakMiB } = runProgram(parts, program, language, scale, after);
    return [
      { case: name, size, unit: "s", samples: [seconds] },
      { case: programs.cpuOf(name), size, unit: "s", samples: [cpuSeconds] },
      { case: programs.memoryOf(name), size, unit: "MiB", samples: [peakMiB] },
    ];
  } catch (error) {
    return [{ case: name, size, reason: (error as Error).message, isSkipped: false }];
  }
}

const sourceLine = (program: Program, language: string, scale: Scale, file: string) => ({
  case: programs.sourceOf(program.name),
  size: scaled(program, language, scale).size,
  unit: "bytes",
  samples: [sourceBytes(file)],
} as const);

/** A program in JavaScript; with workers, by heddle. */
function measureScript(program: Program, scale: Scale, workers?: number): Lines {
  const language = workers === undefined ? programs.JAVASCRIPT : programs.HEDDLE;
  const { name, isSequential } = program;
  if (workers !== undefined && isSequential !== undefined) {
    const { size } = scaled(program, language, scale);
    return [{ case: name, size, reason: isSequential, isSkipped: true }];
  }
  const command = scriptCommand(workers === undefined ? "js" : "heddle", name);
  const after = workers === undefined ? [] : [String(workers)];
  return [
    ...measureProgram(program, language, scale, () => command, after),
    sourceLine(program, language, scale, command.at(-1)!),
  ];
}

function measureNative(language: Language, program: Program, scale: Scale): Lines {
  const { name } = language;
  const missing = whyMissing(language);
  if (missing !== undefined) {
    const { size } = scaled(program, name, scale);
    return [{ case: program.name, size, reason: missing, isSkipped: true }];
  }
  return [
    ...measureProgram(program, name, scale, () => commandOf(language, program.name)),
    sourceLine(program, name, scale, fileOf(language, program.name)),
  ];
}

/** Runs one round of the contender named on the command line, and prints its figures. */
async function runScripts(): Promise<never> {
  const { contender, isQuick, threads } = readArguments();
  const scale = scaleOf(isQuick);
  if (contender === programs.JAVASCRIPT) {
    return await finish(PROGRAMS.flatMap((program) => measureScript(program, scale)));
  }
  if (contender === programs.BARE_WORKER || threads === 0) {
    return await finish(
      await measureWorkers(
        contender === programs.HEDDLE ? programs.HEDDLE : programs.BARE_WORKER,
        isQuick,
      ),
    );
  }
  const lines = PROGRAMS.flatMap((program) => measureScript(program, scale, threads));
  const fasta = PROGRAMS.find(({ name }) => name === "fasta")!;
  const { size, result } = scaled(fasta, programs.HEDDLE, scale);
  const utilisation = await attempt(
    { case: programs.UTILISATION, size: threads, unit: "%" },
    () => measureUtilisation(size, threads, result),
  );
  return await finish([...lines, utilisation]);
}

/** The same for programs in other languages. */
async function runNative(): Promise<never> {
  const { contender, isQuick } = readArguments();
  if (contender === programs.GOROUTINES) return await finish(measureGoroutines(isQuick));
  const language = languageOf(contender);
  return await finish(
    PROGRAMS.flatMap((program) => measureNative(language, program, scaleOf(isQuick))),
  );
}

export const run = ({ name }: Platform): Promise<never> =>
  name === "native" ? runNative() : runScripts();
