/** The tasks of `soak`. */
export const echo = (value: unknown): unknown => value;
export const later = async (ms: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, ms));
export const fail = (text: string): never => {
  throw new RangeError(text);
};
