/**
 * Text, JSON and numbers as bytes in shared memory, as `knitting/utils` has them.
 *
 * @module
 */
export * from "./compat/knitting/utils.ts";
