/** The option `mapError`: calls as their functions see them, with other reasons for rejections. */
import { PLAIN } from "../host/cancel/call-settings.ts";
import type { CallEntry } from "../host/metrics/call-entry.ts";
import type { PendingCall, Reject } from "../host/in-flight.ts";
import type { PoolOptions } from "./options.ts";

/** Where calls are made. */
export type CallSink = Pick<CallEntry, "submit" | "submitEarly" | "submitPlain">;

/** `entry` itself without `mapError`. */
export function withMappedErrors(entry: CallSink, mapError: PoolOptions["mapError"]): CallSink {
  if (mapError === undefined) return entry;
  const mapped = (reject: Reject): Reject => (reason) => {
    try {
      reject(mapError(reason));
    } catch (error) {
      reject(error);
    }
  };
  /** A stream replaces the callbacks of its call. */
  const follow = (call: PendingCall | undefined): PendingCall | undefined => {
    const inner = call?.follow;
    call?.followBy((resolve, reject) =>
      inner?.(resolve, mapped(reject)) ?? [resolve, mapped(reject)]
    );
    return call;
  };
  // What these throw is the reason that there is no call.
  const sink: CallSink = {
    submitPlain: (task, args, resolve, reject) => {
      sink.submit(task, args, resolve, reject, PLAIN);
    },
    submit: (task, args, resolve, reject, settings) => {
      try {
        return follow(entry.submit(task, args, resolve, mapped(reject), settings));
      } catch (reason) {
        throw mapError(reason);
      }
    },
    submitEarly: (name, find, args, resolve, reject, settings) => {
      try {
        return follow(entry.submitEarly(name, find, args, resolve, mapped(reject), settings));
      } catch (reason) {
        throw mapError(reason);
      }
    },
  };
  return sink;
}
