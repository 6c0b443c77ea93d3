/** What is read for the first broadcast, and the first call for a certain worker. */
export { createBroadcastProxy } from "../broadcast-proxy.ts";
export { createBroadcasts } from "../parts.ts";
export { PinnedCalls } from "../pinned-calls.ts";
