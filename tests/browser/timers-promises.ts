/** In a browser this takes the place of `node:timers/promises`. */
export function setTimeout<Value>(
  ms: number,
  value?: Value,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => resolve(value as Value), ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
