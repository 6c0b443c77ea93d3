/** What is read for the first `map`, `forEach`, `reduce` or `scope` of a thread. */
export { Mapping } from "./map.ts";
