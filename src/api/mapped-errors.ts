/** The option `mapError`: calls as their functions see them, with other reasons for rejections. */
import type { CallEntry } from "../host/metrics/call-entry.ts";
import type { Reject } from "../host/in-flight.ts";
import type { PoolOptions } from "./options.ts";

/** Where calls are made. */
export type CallSink = Pick<CallEntry, "submit" | "submitEarly">;

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
  // What these throw is the reason that there is no call.
  return {
    submit: (task, args, resolve, reject, settings) => {
      try {
        return entry.submit(task, args, resolve, mapped(reject), settings);
      } catch (reason) {
        throw mapError(reason);
      }
    },
    submitEarly: (name, find, args, resolve, reject, settings) => {
      try {
        return entry.submitEarly(name, find, args, resolve, mapped(reject), settings);
      } catch (reason) {
        throw mapError(reason);
      }
    },
  };
}
