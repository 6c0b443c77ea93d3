/** Calls made at once, or one after the other, with their answers checked: what is timed over and over. */

export type NumberCall = (value: number) => Promise<unknown>;

export interface Batch {
  /** Calls at once; with 1, `sequential` calls one after the other. */
  readonly size: number;
  readonly sequential: number;
  /** Whether the answer is what was sent, or undefined. */
  readonly isEcho: boolean;
}

/** A function that makes the calls and throws if an answer is wrong. */
export function createRun(call: NumberCall, batch: Batch): () => Promise<void> {
  const { size, sequential, isEcho } = batch;
  const check = (answer: unknown, sent: number): void => {
    if (answer !== (isEcho ? sent : undefined)) throw new Error(`sent ${sent}, got ${answer}`);
  };
  if (size === 1) {
    return async () => {
      for (let n = 0; n < sequential; n++) check(await call(n + 0.5), n + 0.5);
    };
  }
  return async () => {
    const answers = new Array<Promise<unknown>>(size);
    for (let n = 0; n < size; n++) answers[n] = call(n + 0.5);
    const values = await Promise.all(answers);
    for (let n = 0; n < size; n++) check(values[n], n + 0.5);
  };
}

const NS_PER_US = 1000;

/** Microseconds of a batch (of one call at size 1) from nanoseconds of a run. */
export const toBatchUs = (samplesNs: readonly number[], { size, sequential }: Batch): number[] =>
  samplesNs.map((ns) => ns / ((size === 1 ? sequential : 1) * NS_PER_US));
