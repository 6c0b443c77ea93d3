/** The task module of every library that takes one: plain JavaScript, so that no runtime strips types first. */
export const echo = (value) => value;
export const nothing = () => {};
export const asyncNothing = async () => {};
