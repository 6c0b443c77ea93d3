/** Words that say which calls were given up: of a slot that is used for ever. */
import { expect, test } from "vitest";
import {
  ABORT_EPOCHS_BYTES,
  clearAbort,
  raiseAbort,
  wasAborted,
} from "../../../../src/features/calls/limits/abort-epochs.ts";

const createWords = () => new Int32Array(new SharedArrayBuffer(ABORT_EPOCHS_BYTES));
const MOST = 2 ** 31 - 1;

test.each([0, 1, 5, 2 ** 30, MOST - 1, MOST])(
  "an abort applies to generation %i and older ones",
  (generation) => {
    const words = createWords();
    const next = generation === MOST ? 0 : generation + 1;
    expect(wasAborted(words, 3, generation)).toBe(false);
    raiseAbort(words, 3, generation);
    expect(wasAborted(words, 3, generation)).toBe(true);
    expect(wasAborted(words, 3, next)).toBe(false);
    expect(wasAborted(words, 2, generation)).toBe(false);
    if (generation > 0) expect(wasAborted(words, 3, generation - 1)).toBe(true);
  },
);

test("a retry aborts the previous run and not the new one", () => {
  const words = createWords();
  clearAbort(words, 3, 7);
  expect(wasAborted(words, 3, 7)).toBe(false);
  clearAbort(words, 3, 8);
  expect([wasAborted(words, 3, 7), wasAborted(words, 3, 8)]).toEqual([true, false]);
});

test("each call updates its word, so generations do not overflow", () => {
  const words = createWords();
  raiseAbort(words, 0, 5);
  for (const generation of [2 ** 29, 2 ** 30, 2 ** 30 + 2 ** 29, 2 ** 31 - 2]) {
    clearAbort(words, 0, generation);
    expect(wasAborted(words, 0, generation)).toBe(false);
  }
});

test("slots without a word and pools without signals ignore aborts", () => {
  const words = createWords();
  raiseAbort(words, words.length, 1);
  expect(wasAborted(words, words.length, 1)).toBe(false);
});
