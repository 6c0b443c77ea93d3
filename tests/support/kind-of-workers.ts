/** Set-up of runs in which pools of tests share no memory with their workers, unless a test says how they should (`HEDDLE_TEST_TRANSPORT`). */
import { useOptions } from "../../src/api/options/options.ts";
import { useInHost } from "../../src/api/pool/feature.ts";
import { hostFeatures } from "../../src/features/host.ts";
import { mirror } from "../../src/features/workers/mirror/host.ts";

useInHost(hostFeatures);
const { transport } = mirror.options!;
useOptions(
  {
    name: "test",
    whenAbsent: { transport: (to, runtime) => transport!("messages", to, {}, runtime) },
  } as Parameters<typeof useOptions>[0],
);
