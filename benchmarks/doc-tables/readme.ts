/**
 * The table of the README. An echo and the start are of `hot` and `cold`; a task of 2 ms, the memory of a worker and a command are of
 * `everyday`, in which contenders take turns in fresh processes. It was measured beside other work, each process after a look for an idle
 * moment: times of the command vary by half, so only its order against the others says something.
 */
import * as everyday from "../scenarios/everyday-cases.ts";
import { OBJECT } from "../scenarios/hot-cases.ts";
import * as page from "./page.ts";
import { p50, startOf } from "./ratios.ts";

const CONTENDERS = ["heddle", "bare worker", "Piscina"];

type Of = (contender: string) => number;

const everydayOf = (name: everyday.EverydayCase): Of => (contender) =>
  p50("node", "everyday", contender, name, 1);

/** A figure that another contender beats is bold. */
function row(label: string, unit: string, of: Of): string[] {
  const written = CONTENDERS.map((contender) => page.figure(of(contender)));
  const least = Math.min(...written.map(Number));
  return [
    label,
    ...written.map((figure, at) => {
      const cell = `${figure} ${unit}`;
      return at === 0 && Number(figure) > least ? `**${cell}**` : cell;
    }),
  ];
}

function atAGlance(): string {
  const alone = page.figure(everydayOf(everyday.COMMAND)(everyday.NO_WORKER));
  return page.table(["Node 26, medians", ...CONTENDERS], [
    row("echo of a small object", "µs", (contender) => p50("node", "hot", contender, OBJECT, 1)),
    row("a task of 2 ms", "ms", everydayOf(everyday.TASK)),
    row(
      "start: import and first result",
      "ms",
      (contender) => startOf("node", contender, "number"),
    ),
    row("memory of a worker", "MiB", everydayOf(everyday.WORKER_MEMORY)),
    row(
      `a command over ${everyday.FILES} files (without workers ${alone} ms)`,
      "ms",
      everydayOf(everyday.COMMAND),
    ),
  ]);
}

export const README_TABLES: page.Tables = { "at a glance": atAGlance };
