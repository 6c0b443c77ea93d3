/** How a feature adds kinds of values. */

/** What a feature adds to the codec of its thread. */
export interface ValueFeature {
  readonly name: string;
}

/** Attaches a feature to the codec of this thread. */
export function useValues(_feature: ValueFeature): void {}
