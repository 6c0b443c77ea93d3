/** How a feature attaches to calls: what they carry, and what happens when they are submitted, wait, are sent and settle. */
import { type CallSettings, type GivenSettings, whenMade } from "./call-settings.ts";
import type { PendingCall } from "./in-flight.ts";

/** How a call is made with other arguments than those that cannot be encoded. */
export interface OtherArguments {
  readonly args: readonly unknown[];
  /** Its settings, beside those of its caller. */
  readonly settings: GivenSettings;
  /** Runs `make`, which encodes the arguments. */
  encode?<Call>(make: () => Call): Call;
  /** It cannot be made with these either. */
  drop?(): void;
}

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
  /**
   * Called for arguments that cannot be encoded, with the error. Returns what to send in their place; undefined: the feature sends
   * none of them. Runs user code. If it throws, the call is refused for that reason.
   */
  replaceArguments?(args: readonly unknown[], error: unknown): OtherArguments | undefined;
  /** Ends what the arguments of a call hold that nobody gets: it is refused, or it is over. Runs user code. */
  dropArguments?(args: readonly unknown[]): void;
}

const features: CallFeature[] = [];

/** See `CallFeature.replaceArguments`. The first feature that knows them decides. */
export function replaceArguments(
  args: readonly unknown[],
  error: unknown,
): OtherArguments | undefined {
  for (const feature of features) {
    const others = feature.replaceArguments?.(args, error);
    if (others !== undefined) return others;
  }
  return undefined;
}

/** See `CallFeature.dropArguments`. */
export function dropArguments(args: readonly unknown[]): void {
  for (const feature of features) feature.dropArguments?.(args);
}

/** Attaches a feature to the calls of this thread. A second time changes nothing. */
export function useCalls(feature: CallFeature): void {
  if (features.includes(feature)) return;
  features.push(feature);
  for (const [name, make] of Object.entries(feature.whenMade ?? {})) {
    whenMade.push([name as keyof CallSettings, make]);
  }
}
