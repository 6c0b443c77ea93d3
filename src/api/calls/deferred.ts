/** What is read for the first `dedupe`. */
export { createDeduped } from "./deduped.ts";
