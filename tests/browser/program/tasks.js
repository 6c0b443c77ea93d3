/** Tasks of the pages of the tests. */
import { task } from "heddle/task";

export const add = (a, b) => a + b;
export const echo = (value) => value;
export const later = async (ms) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return ms;
};
export const spin = (ms) => {
  for (const end = performance.now() + ms; performance.now() < end;);
  return ms;
};
export function* count(to) {
  for (let n = 0; n < to; n++) yield n;
}
export const fail = () => {
  throw new RangeError("no", { cause: 7 });
};
export const signalled = task({
  abortSignal: true,
  f: async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
});
