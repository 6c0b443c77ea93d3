/** Which functions are classes, which are no tasks: they cannot be called without `new`. */

/** Whether `f` is written as a class. One that was compiled to a function is not recognized. */
export function isClass(f: unknown): boolean {
  return typeof f === "function" && /^class[\s{]/.test(Function.prototype.toString.call(f));
}
