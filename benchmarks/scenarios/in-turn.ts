/**
 * Contenders of one process in turn, in blocks of milliseconds: a moment in which the machine is slow slows all of them, so their
 * ratios hold where processes of their own give no verdict. Each contender keeps its workers, which sleep while another has its turn.
 */
import type { RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { quantileSorted } from "simple-statistics";

/** What one block of a contender gives: a figure, or several with one place each. */
export type BlockFigure = Omit<RoundSamples, "contender" | "blocks">;

export interface Turns<Contender> {
  readonly contenders: readonly Contender[];
  /** Blocks of each contender that count. */
  readonly turns: number;
  /** Blocks of each before the first that counts: engines compile what is hot in threads of their own. */
  readonly warmUps: number;
  /** Figures of one block. */
  readonly take: (contender: Contender) => Promise<readonly BlockFigure[]>;
  /** What a contender that fails has no figure of. */
  readonly place: Pick<RoundGap, "case" | "size">;
}

interface Taken {
  readonly figure: BlockFigure;
  readonly samples: number[];
  readonly blocks: number[];
}

/** Figures of all contenders; `blocks` are the medians of the blocks in the order of the turns, so that they pair. */
export async function takeInTurn<Contender extends { readonly name: string }>(
  { contenders, turns, warmUps, take, place }: Turns<Contender>,
): Promise<(RoundSamples | RoundGap)[]> {
  const taken = new Map<string, Map<string, Taken>>();
  const gaps = new Map<string, RoundGap>();
  for (let turn = -warmUps; turn < turns; turn++) {
    // There and back, so that none always follows the same other one.
    for (const contender of turn % 2 === 0 ? contenders : contenders.toReversed()) {
      const { name } = contender;
      if (gaps.has(name)) continue;
      try {
        const figures = await take(contender);
        if (turn >= 0) add(taken, name, figures);
      } catch (error) {
        gaps.set(name, {
          ...place,
          contender: name,
          reason: (error as Error).message,
          isSkipped: false,
        });
        taken.delete(name);
      }
    }
  }
  const found = [...taken].flatMap(([contender, figures]) =>
    [...figures.values()].map(({ figure, samples, blocks }) => ({
      ...figure,
      contender,
      samples,
      blocks,
    }))
  );
  return [...found, ...gaps.values()];
}

function add(
  taken: Map<string, Map<string, Taken>>,
  name: string,
  figures: readonly BlockFigure[],
): void {
  const own = taken.get(name) ?? new Map<string, Taken>();
  taken.set(name, own);
  for (const figure of figures) {
    const key = `${figure.case}\n${figure.size}`;
    const known = own.get(key) ?? { figure, samples: [], blocks: [] };
    own.set(key, known);
    known.samples.push(...figure.samples);
    known.blocks.push(quantileSorted([...figure.samples].sort((a, b) => a - b), 0.5));
  }
}

const US_PER_MS = 1000;

/** Runs again and again for a block. Returns microseconds of each run, divided by `divisor`. */
export async function takeBlock(
  run: () => unknown,
  blockMs: number,
  divisor: number,
): Promise<number[]> {
  const samples: number[] = [];
  const endMs = performance.now() + blockMs;
  for (let beganMs = performance.now(); beganMs < endMs;) {
    await run();
    const now = performance.now();
    samples.push((now - beganMs) * US_PER_MS / divisor);
    beganMs = now;
  }
  return samples;
}

/** The contenders that the command line names, started; of those that do not start there is a gap. */
export async function startInTurn<Contender extends { readonly name: string }, Started>(
  contenders: readonly Contender[],
  names: readonly string[],
  start: (contender: Contender) => Promise<Started>,
  place: Pick<RoundGap, "case" | "size">,
): Promise<{ started: (Started & { readonly name: string })[]; gaps: RoundGap[] }> {
  const started: (Started & { readonly name: string })[] = [];
  const gaps: RoundGap[] = [];
  for (const name of names) {
    const contender = contenders.find((each) => each.name === name);
    if (contender === undefined) throw new Error(`No contender "${name}" on this runtime.`);
    try {
      started.push({ ...await start(contender), name });
    } catch (error) {
      const reason = (error as Error).message;
      gaps.push({ ...place, contender: name, reason, isSkipped: false });
    }
  }
  return { started, gaps };
}
