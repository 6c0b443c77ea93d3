/** What is read for the first stream or event of a worker. */
export { ArgumentStream, onArgumentMessage } from "./argument-streams.ts";
export { bindIterator } from "./bound-iterator.ts";
export { createResultStreams, sendStream } from "./result-streams.ts";
export { taskEvents } from "./task-events.ts";
