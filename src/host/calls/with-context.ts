/** The arguments of a call that carries a context (option `context`): the context is the last one. */

/** `args`, at least `length` of them, and the context. */
export function withContext(
  args: readonly unknown[],
  context: unknown,
  length: number,
): readonly unknown[] {
  const padding = new Array<undefined>(Math.max(0, length - args.length)).fill(undefined);
  return [...args, ...padding, context];
}
