/** Bounded queues: what waits, and what is refused. */
import { Promise } from "../../builtins.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import type { PoolAccess } from "../../api/pool/members.ts";

const needsDrain = ({ core }: PoolAccess): boolean => core.dispatcher.backpressure.needsDrain;

export const queue: HostFeature = {
  name: "queue",

  members: {
    needsDrain,
    drained: (access) =>
      access.keep("drained", () => (): Promise<void> => {
        if (!needsDrain(access)) return Promise.resolve();
        return new Promise((resolve) => {
          access.pool.addEventListener("drain", () => resolve(), { once: true });
        });
      }),
  },
};
