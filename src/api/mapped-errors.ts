/** The option `mapError`: the dispatcher as calls see it, with other reasons for rejections. */
import type { Dispatcher } from "../host/dispatch/dispatcher.ts";
import type { Reject } from "../host/in-flight.ts";
import type { PoolOptions } from "./options.ts";

/** Where calls are made. */
export type CallSink = Pick<Dispatcher, "submit" | "submitEarly" | "onTasksKnown">;

/** `dispatcher` itself without `mapError`. */
export function withMappedErrors(
  dispatcher: CallSink,
  mapError: PoolOptions["mapError"],
): CallSink {
  if (mapError === undefined) return dispatcher;
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
        return dispatcher.submit(task, args, resolve, mapped(reject), settings);
      } catch (reason) {
        throw mapError(reason);
      }
    },
    submitEarly: (find, args, resolve, reject, settings) => {
      try {
        return dispatcher.submitEarly(find, args, resolve, mapped(reject), settings);
      } catch (reason) {
        throw mapError(reason);
      }
    },
    onTasksKnown: () => dispatcher.onTasksKnown(),
  };
}
