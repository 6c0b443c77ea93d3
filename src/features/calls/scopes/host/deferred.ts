/** What is read for the first scope of a thread. */
export { createScope } from "./create-scope.ts";
