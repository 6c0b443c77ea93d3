/** What is read for the first pool whose workers are limited. */
export { checkWorkerLimits } from "../worker-limits.ts";
