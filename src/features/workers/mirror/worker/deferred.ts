/** What is read in a worker that shares no memory with its host. */
export { onMirrorMessage, openMirrored } from "./mirrored.ts";
