/** The option `mapError`: calls as their functions see them, with other reasons for rejections. */
import { PLAIN } from "../../../host/calls/call-settings.ts";
import { bindOnce } from "../../../host/calls/caller-context.ts";
import type { PendingCall, Reject } from "../../../host/calls/in-flight.ts";
import type { CallSink } from "../../../api/options/resolved-options.ts";

export function withMappedReasons(
  entry: CallSink,
  mapError: (reason: unknown) => unknown,
): CallSink {
  /** Wraps `reject` of one call; `run` runs `mapError` in the context of its caller. */
  const mapped = (reject: Reject, run: (f: () => void) => void): Reject => (reason) =>
    run(() => {
      try {
        reject(mapError(reason));
      } catch (error) {
        reject(error);
      }
    });
  /** A stream replaces the callbacks of its call. */
  const follow = (
    call: PendingCall | undefined,
    run: (f: () => void) => void,
  ): PendingCall | undefined => {
    const inner = call?.extra?.follow;
    call?.followBy((resolve, reject) =>
      inner?.(resolve, mapped(reject, run)) ?? [resolve, mapped(reject, run)]
    );
    return call;
  };
  // What these throw is the reason that there is no call.
  const sink: CallSink = {
    mapError,
    submitPlain: (task, args, resolve, reject) => {
      sink.submit(task, args, resolve, reject, PLAIN);
    },
    submit: (task, args, resolve, reject, settings, bindEnd = bindOnce) => {
      try {
        const run = bindEnd();
        const onReason = mapped(reject, run);
        return follow(entry.submit(task, args, resolve, onReason, settings, bindEnd), run);
      } catch (reason) {
        throw mapError(reason);
      }
    },
  };
  return sink;
}
