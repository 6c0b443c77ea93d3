/** Workers that are processes: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import * as deferred from "./host/deferred.ts";

export const processes: HostFeature = {
  name: "processes",
  needs: ["mirror"],

  options: {
    workers: (value, to, given, runtime) => {
      if (value === "threads") return;
      // Its part has no `import()`: bundlers wrap what CommonJS imports, and that would be all of heddle.
      const loadWorker = () => import("./host/process-worker.ts");
      deferred.useProcesses(value, to, given, runtime, loadWorker);
    },
    process: (_value, to) => {
      if (to.spawnWorker === undefined) {
        throw new InvalidArgumentError("The option process is for workers that are processes.");
      }
    },
  },
};
