/** Signals of several sources as one. */
import { AbortController, AbortSignal, WeakMap } from "../../../../builtins.ts";

/** A signal that is aborted when one of these is. */
export function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  if (other === undefined || other === one) return one;
  return AbortSignal.any([nativeOf(one), nativeOf(other)]);
}

const isAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!.get!;
const followers = new WeakMap<AbortSignal, AbortSignal>();

/** The signal itself, or one that follows it if it is a polyfill's, which `AbortSignal.any` refuses or does not follow. */
function nativeOf(signal: AbortSignal): AbortSignal {
  try {
    isAborted.call(signal);
    return signal;
  } catch {
    // not an object of the runtime
  }
  let follower = followers.get(signal);
  if (follower === undefined) {
    const controller = new AbortController();
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow);
    followers.set(signal, follower = controller.signal);
  }
  return follower;
}
