/** The option `metrics`: notes when each call was made. */
import type { CallStamps } from "../call-metrics.ts";
import type { CallSettings } from "../../../../host/calls/call-settings.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { Sender, type SenderOptions } from "../../../../host/dispatch/queue/sender.ts";

export class StampingSender extends Sender {
  readonly #stamps: CallStamps;

  constructor(options: SenderOptions, stamps: CallStamps) {
    super(options);
    this.#stamps = stamps;
  }

  override begin(
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
    task: number,
  ): PendingCall {
    const call = super.begin(resolve, reject, settings, task);
    this.#stamps.made(call.slot);
    return call;
  }
}
