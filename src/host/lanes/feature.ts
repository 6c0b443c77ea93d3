/** How a feature attaches to workers as the host sees them: their phases, their messages, what they start with. */

/** What a feature adds to the lanes of a host. */
export interface LaneFeature {
  readonly name: string;
}

/** Attaches a feature to the lanes of this thread. */
export function useLanes(_feature: LaneFeature): void {}
