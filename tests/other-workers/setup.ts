/**
 * Set-up of runs in which pools of tests share no memory with their workers, unless a test says how they should:
 * `HEDDLE_TEST_WORKERS=messages` (threads) or `processes`.
 */
import { useOptions } from "../../src/api/options/options.ts";
import { useInHost } from "../../src/api/pool/feature.ts";
import { hostFeatures } from "../../src/features/host.ts";
import { mirror } from "../../src/features/workers/mirror/host.ts";
import { processes } from "../../src/features/workers/processes/host.ts";

useInHost(hostFeatures);
const isOfProcesses = process.env["HEDDLE_TEST_WORKERS"] === "processes";
const { transport } = mirror.options!;
const { workers } = processes.options!;
useOptions({
  name: "test",
  whenAbsent: isOfProcesses
    ? { workers: (to, runtime) => workers!("processes", to, {}, runtime) }
    : { transport: (to, runtime) => transport!("messages", to, {}, runtime) },
});
