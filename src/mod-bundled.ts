/** `heddle` for bundlers, by the condition `module`: the code for structs comes with the first use of `struct`. */
export * from "./mod-core.ts";
export { struct } from "./codec/struct/providing-schema.ts";
