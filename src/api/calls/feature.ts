/** How a feature makes what calls return, where that is no plain promise. */
import type { PendingCall, Reject, Resolve } from "../../host/calls/in-flight.ts";

/** Makes a call. Returns it unless it is over already; throws the reason that there is none. */
export type MakeCall = (resolve: Resolve, reject: Reject) => PendingCall | undefined;

/** The parts of a pool on the host (`PoolParts`). */
export interface StreamParts {
  part(make: never): object;
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
