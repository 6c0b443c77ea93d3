/** How a feature attaches to workers as the host sees them: by their messages. What hears of their phases calls `LaneSet.watch`. */
import type { Lane } from "./lane.ts";

/** `pool`: the parts of the pool (`PoolParts`). */
export type MessageHandler = (lane: Lane, message: never, pool: never) => void;

/** What a feature adds to the lanes of a host. */
export interface LaneFeature {
  readonly name: string;

  /** What happens with messages of workers, by their names (`heddle`). */
  readonly messages?: Readonly<Record<string, MessageHandler>>;
}

/** By their names. */
export const messages: Record<string, MessageHandler | undefined> = { __proto__: null as never };

/** Attaches a feature to the lanes of this thread. */
export function useLanes(feature: LaneFeature): void {
  Object.assign(messages, feature.messages);
}
