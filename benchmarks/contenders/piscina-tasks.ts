export const echo = (value: number): number => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};
