/**
 * Clock, timers and macrotasks of a browser, captured when heddle is loaded.
 *
 * Browsers freeze pages that nobody sees: timers stop, and so do the page's workers, while the browser's clock goes on.
 * The time in which the page was frozen does not count here. Otherwise the limits of all calls in flight would be
 * over when it thaws. A page that is only hidden is not frozen: its workers run on, and so does this clock.
 */
import { MessageChannel, queueMicrotask } from "../../builtins.ts";
import type { Timer } from "../runtime.ts";

const { setTimeout, clearTimeout, setInterval } = globalThis as unknown as {
  readonly setTimeout: (callback: () => void, delayMs: number) => number;
  readonly setInterval: (callback: () => void, delayMs: number) => number;
  readonly clearTimeout: (timer: number) => void;
};

const { performance } = globalThis;
const precise = performance.now.bind(performance);
let frozenMs = 0;
let frozenAtMs: number | undefined;

/** Add this to `now()` for a clock that goes on, and that workers share: they do not hear of the freeze. */
export const originMs = (): number => performance.timeOrigin + frozenMs;

export const now = (): number => (frozenAtMs ?? precise()) - frozenMs;

/** Events of a page's life cycle, and what pages in the back-forward cache get. Workers get none. */
function followPage(): void {
  const { document } = globalThis as { document?: EventTarget };
  if (document === undefined) return;
  const freeze = (): void => void (frozenAtMs ??= precise());
  const thaw = (): void => {
    if (frozenAtMs === undefined) return;
    frozenMs += precise() - frozenAtMs;
    frozenAtMs = undefined;
  };
  document.addEventListener("freeze", freeze);
  document.addEventListener("resume", thaw);
  globalThis.addEventListener("pagehide", (event) => {
    if ((event as PageTransitionEvent).persisted) freeze();
  });
  globalThis.addEventListener("pageshow", thaw);
}
followPage();

const timerOf = (id: number): Timer => ({
  ref: () => {}, // a page stays open anyway
  unref: () => {},
  clear: () => clearTimeout(id),
});

export const timers = {
  setTimeout: (callback: () => void, delayMs: number): Timer =>
    timerOf(setTimeout(callback, delayMs)),
  setInterval: (callback: () => void, intervalMs: number): Timer =>
    timerOf(setInterval(callback, intervalMs)),
};

export const microtask = (callback: () => void): void => queueMicrotask(callback);

const queue: (() => void)[] = [];
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => queue.shift()!();

/** By a message: nested timers are delayed by four milliseconds. */
export function macrotask(callback: () => void): void {
  queue.push(callback);
  port2.postMessage(undefined);
}
