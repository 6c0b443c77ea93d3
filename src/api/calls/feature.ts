/** How a feature makes what calls return, where that is no plain promise. */
import type { PendingCall, Reject, Resolve } from "../../host/calls/in-flight.ts";
import type { StreamCalls } from "../../host/streams/stream-calls.ts";

/** Makes a call. Returns it unless it is over already; throws the reason that there is none. */
export type MakeCall = (resolve: Resolve, reject: Reject) => PendingCall | undefined;

/** The parts of a pool that make streams. */
export interface StreamParts {
  readonly streams: StreamCalls;
}

/** What a feature adds to the calls of pools. */
export interface ReturnFeature {
  readonly name: string;
  /** Makes a call of a generator task. */
  readonly callGenerator?: (parts: StreamParts, submit: MakeCall) => unknown;
  /** Makes a call of a task that no worker has described yet. `isStream`: whether it turned out to be a generator. */
  readonly callEarly?: (
    parts: StreamParts,
    name: string,
    isStream: () => boolean,
    submit: MakeCall,
  ) => unknown;
}

/** What features have added. */
export const returns: Omit<ReturnFeature, "name"> = {};

/** Attaches what a feature adds to the calls of pools. */
export function useReturns({ callGenerator, callEarly }: ReturnFeature): void {
  if (callGenerator !== undefined) Object.assign(returns, { callGenerator });
  if (callEarly !== undefined) Object.assign(returns, { callEarly });
}
