/** How a feature adds options of pools and calls. */

/** What a feature adds to the options. */
export interface OptionFeature {
  readonly name: string;
}

/** Attaches the options of a feature. */
export function useOptions(_feature: OptionFeature): void {}
