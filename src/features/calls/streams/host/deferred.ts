/** What is read for the first stream of a thread. */
export { attachSources, onArgumentMessage } from "./argument-sources.ts";
export { endStreams } from "../sources/open-source.ts";
export { replaceStreams } from "./split-streams.ts";
export { createStreams } from "./stream-calls.ts";
