/**
 * Every program in another language prints the right result, where its toolchain is installed. They are no concern of
 * the runtime, so Node alone runs them.
 */
import { describe, expect, test } from "vitest";
import { PROGRAMS } from "../../benchmarks/programs/catalogue.ts";
import {
  commandOf,
  languageOf,
  LANGUAGES,
  whyMissing,
} from "../../benchmarks/programs/languages.ts";
import { runProgram, scriptCommand } from "../../benchmarks/programs/run-program.ts";
import { measureGoroutines } from "../../benchmarks/scenarios/goroutines.ts";
import { runtimeName } from "../support/runtime.ts";

const isNode = runtimeName === "node";
/** `measure.c` needs it. */
const canMeasure = isNode && whyMissing(languageOf("C")) === undefined;

describe.each(LANGUAGES)("$name", (language) => {
  const isInstalled = canMeasure && whyMissing(language) === undefined;

  test.runIf(isInstalled).each(PROGRAMS)("$name", (program) => {
    const command = commandOf(language, program.name);
    const { peakMiB } = runProgram(command, program, language.name, "test");
    expect(peakMiB).toBeGreaterThan(0);
  });
});

test.runIf(isNode && whyMissing(languageOf("Go")) === undefined)("goroutines", () => {
  const figures = measureGoroutines(true);
  expect(figures).toHaveLength(5);
  for (const figure of figures) {
    expect("samples" in figure && figure.samples.every((sample) => sample > 0)).toBe(true);
  }
});

describe.runIf(canMeasure)("a program that is measured", () => {
  const [program] = PROGRAMS;

  test("must print its result", () => {
    const wrong = { ...program!, before: ["29"] };
    const command = scriptCommand("js", wrong.name);
    expect(() => runProgram(command, wrong, "JavaScript", "test")).toThrow("instead of");
  });

  test("must end with code 0", () => {
    const command = scriptCommand("js", "missing");
    expect(() => runProgram(command, program!, "JavaScript", "test")).toThrow("ended with 1");
  });

  test("must exist", () => {
    expect(() => runProgram(["./missing"], program!, "JavaScript", "test")).toThrow("cannot start");
  });
});
