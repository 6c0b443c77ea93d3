/**
 * One payload echoed through one worker, checked and timed: what `types` and `payload-growth` share.
 *
 * A batch of 1 is timed over several calls one after the other and divided, as in `latency`. A batch
 * of calls at once is one sample. All answers of an untimed batch before and of one after are compared
 * with what was sent.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Echo } from "../contenders/types.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import type { PayloadKind } from "../payloads/payload.ts";
import { assertSame } from "../payloads/same.ts";

export interface EchoRun {
  /** Case and size of the figure. */
  readonly case: string;
  readonly size: number;
  readonly kind: PayloadKind;
  /** Calls at once. */
  readonly batch: number;
  /** Calls one after the other in one sample, at batch 1. */
  readonly sequentialCalls: number;
  /** Values to cycle through. */
  readonly variants: number;
  /** Why it is left out, whoever the contender is. */
  readonly skipped?: string;
}

const NS_PER_US = 1000;

/** An answer that takes longer than this is lost. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Echoes for longest before the first figure of a worker, by share of the budget and at most: engines compile what
 * is hot in threads of their own, four of them on Node, which want the two cores for the first quarter of a second.
 */
const FIRST_WARM_UP = 5;
const MAX_WARM_UP_MS = 500;

/** Rest before each figure, by share of the budget and at most: the last one's garbage is collected by such threads as well. */
const REST = 0.5;
const MAX_REST_MS = 50;

/** Calls of one run over and over, and a check of all answers of a batch. Times are divided by `divisor`. */
export interface PreparedEcho {
  readonly calls: () => Promise<void>;
  readonly check: () => Promise<void>;
  readonly divisor: number;
}

export function prepareEcho(echo: Echo, run: EchoRun): PreparedEcho {
  const { kind, batch, sequentialCalls } = run;
  // What is moved is gone until its answer brings it back: one value for each call at once.
  const count = kind.route === "move" ? batch : run.variants;
  const values = Array.from({ length: count }, (_, variant) => kind.create(variant));
  return {
    calls: batch === 1
      ? oneAfterTheOther(echo, values, sequentialCalls, kind)
      : allAtOnce(echo, values, batch, kind),
    check: () => withinTimeout(checkBatch(echo, values, batch, kind)),
    divisor: batch === 1 ? sequentialCalls : 1,
  };
}

/** Microseconds per batch. `isFirst`: the worker has only just started. */
export async function measureEcho(
  echo: Echo,
  run: EchoRun,
  budget: Budget,
  isFirst: boolean,
): Promise<number[]> {
  const { calls, check, divisor } = prepareEcho(echo, run);
  await check();
  const budgetMs = 1000 * budget.seconds;
  if (isFirst) await repeat(calls, Math.min(FIRST_WARM_UP * budgetMs, MAX_WARM_UP_MS));
  await sleep(Math.min(REST * budgetMs, MAX_REST_MS));
  const samples = await takeSamples(calls, budget);
  await check();
  return samples.map((ns) => ns / (divisor * NS_PER_US));
}

async function repeat(calls: () => Promise<void>, ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) await calls();
}

function oneAfterTheOther(
  echo: Echo,
  values: unknown[],
  count: number,
  { route }: PayloadKind,
): () => Promise<void> {
  let next = 0;
  return async () => {
    for (let n = 0; n < count; n++) {
      const slot = next++ % values.length;
      const answer = await echo(values[slot]);
      if (route === "move") values[slot] = answer;
    }
  };
}

function allAtOnce(
  echo: Echo,
  values: unknown[],
  batch: number,
  { route }: PayloadKind,
): () => Promise<void> {
  let next = 0;
  return async () => {
    const pending = new Array<Promise<unknown>>(batch);
    for (let n = 0; n < batch; n++) pending[n] = echo(values[next++ % values.length]);
    const answers = await Promise.all(pending);
    if (route === "move") values.splice(0, batch, ...answers);
  };
}

async function checkBatch(
  echo: Echo,
  values: unknown[],
  batch: number,
  { route, create }: PayloadKind,
): Promise<void> {
  const sent = Array.from({ length: batch }, (_, n) => values[n % values.length]);
  const answers = await Promise.all(sent.map((value) => echo(value)));
  for (const [n, answer] of answers.entries()) {
    // What was moved away cannot be compared with.
    assertSame(route === "move" ? create(n) : sent[n], answer);
    if (route !== "move") continue;
    if ((sent[n] as ArrayBuffer).byteLength > 0) throw new Error("it was copied, not moved");
    values[n] = answer;
  }
}

async function withinTimeout(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)),
      ANSWER_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
