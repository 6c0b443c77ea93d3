/** What is read for the first worker that shares no memory with its host. */
export { connectMirrored } from "./mirrored-connection.ts";
