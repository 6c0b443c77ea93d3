/** Events of a call, in the context of its caller. */
import type { Runtime } from "../../runtimes/runtime.ts";

/** Gives each event to `onEvent`, in the asynchronous context of now. What that throws is uncaught. */
export function inCallerContext(
  { bindContext, microtask }: Pick<Runtime, "bindContext" | "microtask">,
  onEvent: (value: unknown) => void,
): (values: readonly unknown[]) => void {
  const inContext = bindContext();
  return (values) => {
    for (const value of values) microtask(() => inContext(() => onEvent(value)));
  };
}
