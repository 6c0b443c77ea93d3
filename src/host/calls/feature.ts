/** How a feature attaches to calls: what they carry, and what happens when they are submitted, wait, are sent and settle. */

/** What a feature adds to the calls of a host. */
export interface CallFeature {
  readonly name: string;
}

/** Attaches a feature to the calls of this thread. */
export function useCalls(_feature: CallFeature): void {}
