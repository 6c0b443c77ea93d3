/**
 * Set-up of runs in which pools of tests share no memory with their workers, unless a test says how they should, or have no threads:
 * `HEDDLE_TEST_WORKERS=messages` (threads), `processes` or `host`.
 */
import { useOptions } from "../../src/api/options/options.ts";
import { useInHost } from "../../src/api/pool/feature.ts";
import { hostFeatures } from "../../src/features/host.ts";
import { mirror } from "../../src/features/workers/mirror/host.ts";
import { processes } from "../../src/features/workers/processes/host.ts";

useInHost(hostFeatures);
const kind = process.env["HEDDLE_TEST_WORKERS"];
const { transport } = mirror.options!;
const { workers } = processes.options!;
if (kind === "host") process.env["HEDDLE_THREADS"] = "0";
else {
  useOptions({
    name: "test",
    whenAbsent: kind === "messages"
      ? { transport: (to, runtime) => transport!("messages", to, {}, runtime) }
      : { workers: (to, runtime) => workers!("processes", to, {}, runtime) },
  });
}
