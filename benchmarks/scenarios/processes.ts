/** `processes`: what `hot` measures, and a large string, by workers that are processes. */
import { PROCESS_CONTENDERS } from "../contenders/worker-processes.ts";
import { run as runHot } from "./hot.ts";
import { PROCESS_VALUES, sizesOf } from "./processes-cases.ts";

export const run = (): Promise<never> =>
  runHot(undefined, PROCESS_CONTENDERS, PROCESS_VALUES, sizesOf);
