/** Which functions return streams. */

const KINDS: readonly string[] = ["[object GeneratorFunction]", "[object AsyncGeneratorFunction]"];

/** Whether `f` is declared by `function*` or `async function*`. */
export function isGeneratorFunction(f: unknown): boolean {
  return typeof f === "function" && KINDS.includes(Object.prototype.toString.call(f));
}
