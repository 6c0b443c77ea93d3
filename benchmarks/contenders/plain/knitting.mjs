/** Knitting's part in plain JavaScript: its workers import the module that creates the pool. */
export const echo = (value) => value;

/** `createPool` of the library, which is imported beforehand. */
export function start(createPool) {
  const { call, shutdown } = createPool({ threads: 1 })({ echo });
  return { echo: call.echo, close: () => shutdown() };
}
