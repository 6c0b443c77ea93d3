/** What is read for the first pool whose tasks may run on the host. */
export { withoutThreads } from "./on-host.ts";
export { createInlineExecutor } from "./parts.ts";
