/** `heddle/task` for bundlers. */
export * from "./mod-task.ts";
export { struct } from "./codec/struct/providing-schema.ts";
