/** Calls over messages: one for each call, one for each answer, matched by number. */
export interface CallsByNumber<Args extends readonly unknown[]> {
  call(...args: Args): Promise<unknown>;
  /** Takes an answer. */
  settle(response: readonly [id: number, value: unknown]): void;
}

export function callsByNumber<Args extends readonly unknown[]>(
  post: (id: number, ...args: Args) => void,
): CallsByNumber<Args> {
  const resolvers = new Map<number, (value: unknown) => void>();
  let nextId = 0;
  return {
    call: (...args) =>
      new Promise((resolve) => {
        resolvers.set(nextId, resolve);
        post(nextId++, ...args);
      }),
    settle([id, value]) {
      resolvers.get(id)!(value);
      resolvers.delete(id);
    },
  };
}
