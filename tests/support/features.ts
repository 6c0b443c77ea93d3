/** Attaches all features, for tests of parts that no pool has made. */
import { useInHost } from "../../src/api/pool/feature.ts";
import { hostFeatures } from "../../src/features/host.ts";

useInHost(hostFeatures);
