/** `adapter`: what `hot` measures, by the adapter and by what it takes the place of. */
import { ADAPTER_CONTENDERS } from "../contenders/one-worker.ts";
import { run as runHot } from "./hot.ts";

export const run = (): Promise<never> => runHot(undefined, ADAPTER_CONTENDERS);
