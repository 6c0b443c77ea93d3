/** How a feature attaches to calls: what they carry, and what happens when they are submitted, wait, are sent and settle. */
import { type CallSettings, whenMade } from "./call-settings.ts";
import type { PendingCall } from "./in-flight.ts";

/** What a feature adds to the calls of a host. `Host`: the parts of a pool. */
export interface CallFeature<Host = never> {
  readonly name: string;
  /**
   * By the name of a setting: what is done for each call that has it (`CallExtra.add`), when it is made, and once more when its task
   * has become known. Runs no user code.
   */
  readonly whenMade?: {
    readonly [Name in keyof CallSettings]?: (call: PendingCall, host: Host) => void;
  };
}

/** Attaches a feature to the calls of this thread. */
export function useCalls(feature: CallFeature): void {
  for (const name in feature.whenMade) {
    const key = name as keyof CallSettings;
    whenMade.push([key, feature.whenMade[key]!]);
  }
}
