/** What is read for the first value of a worker that ordinary payloads do not have. */
export { writeRare } from "../kinds/other-objects.ts";
export { pathTo } from "../path.ts";
export { valueReaders } from "../rare-values.ts";
