/** How a feature attaches to workers as the host sees them: by their messages. What hears of their phases calls `LaneSet.watch`. */
import type { Lane } from "./lane.ts";

/** `message` is declared by the feature, whose workers send it. `host`: the parts of the pool. */
export type MessageHandler<Host> = (lane: Lane, message: never, host: Host) => void;

/** What a feature adds to the lanes of a host. */
export interface LaneFeature<Host = never> {
  readonly name: string;

  /** What happens with messages of workers, by their names (`heddle`). */
  readonly messages?: Readonly<Record<string, MessageHandler<Host>>>;
}

/** Those of the features of this thread, by their names. */
export const messages: Record<string, MessageHandler<never> | undefined> = {
  __proto__: null as never,
};
