/** What is read for the first `struct()` of a thread. */
export { createArray, createBytes, createOptional, createStruct, createUtf8 } from "./fields.ts";
