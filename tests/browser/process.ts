/** In a browser: as much of the global `process` as the suite and its tasks use. */
function ever(): void {}

export const process = {
  env: {} as Readonly<Record<string, string | undefined>>,
  /** Ends a worker. The code behind it does not run, as on other runtimes. */
  exit(): never {
    close();
    for (;;) ever();
  },
  on(): void {},
};
export default process;
