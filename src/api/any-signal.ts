/** Signals of several sources as one. */

const isAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!.get!;

/** Whether `signal` is one of this realm: `AbortSignal.any` refuses others, or does not follow them. */
function isBuiltIn(signal: AbortSignal): boolean {
  try {
    isAborted.call(signal);
    return true;
  } catch {
    return false;
  }
}

/** A signal that aborts as soon as one of these does. */
export function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  if (other === undefined || other === one) return one;
  const signals = [one, other];
  if (signals.every(isBuiltIn)) return AbortSignal.any(signals);
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
