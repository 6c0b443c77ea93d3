/** What a call keeps of its caller, for the requests that its task makes of the host. */
import { isCallbackRefusal, type SentCallbacks, withCallbacks } from "../callback-value.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import type { CallerContext } from "../../../../host/calls/caller-context.ts";
import type { OtherArguments } from "../../../../host/calls/feature.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";

export class CallerPart implements CallPart {
  /** What its task may call of its arguments. */
  callbacks: SentCallbacks | undefined = undefined;
  /** Where these run, and functions of the host for the call. */
  context: CallerContext | undefined = undefined;

  get needsWorker(): boolean {
    return this.callbacks !== undefined;
  }
}

/** The part of a call, which it gets if it has none. */
export function callerPartOf(call: PendingCall): CallerPart {
  const extra = call.keep();
  let part = extra.find(CallerPart);
  if (part === undefined) extra.add(part = new CallerPart());
  return part;
}

/** The same arguments, if they were refused for what a task may call. */
export function replaceCallbacks(
  args: readonly unknown[],
  error: unknown,
): OtherArguments | undefined {
  if (!isCallbackRefusal(error)) return undefined;
  const callbacks: SentCallbacks = { functions: [], references: [] };
  return { args, settings: { callbacks }, encode: (make) => withCallbacks(callbacks, make) };
}
