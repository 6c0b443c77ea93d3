/**
 * Calls over messages: one message per call, one per answer, matched by number. Both halves; how a
 * message is posted is the worker's business.
 */

/** Tasks by number. */
export const ECHO = 0;
export const NOTHING = 1;
export const ASYNC_NOTHING = 2;
export const ECHO_MOVED = 3;
type TaskNumber = typeof ECHO | typeof NOTHING | typeof ASYNC_NOTHING | typeof ECHO_MOVED;

export type Request = readonly [id: number, task: TaskNumber, value: unknown];
export type Response = readonly [id: number, value: unknown];

/** Posts a message; `moved` goes along instead of being copied. */
type Post<Message> = (message: Message, moved: ArrayBuffer[] | undefined) => void;

const tasks = [(value: unknown) => value, () => {}, async () => {}, (value: unknown) => value];

export interface MessageCalls {
  call(task: TaskNumber, value?: unknown, moved?: ArrayBuffer[]): Promise<unknown>;
  close(): Promise<unknown>;
}

/** The caller's half: `settle` takes the answers. */
export function createCalls(
  post: Post<Request>,
): Pick<MessageCalls, "call"> & { settle(response: Response): void } {
  const resolvers = new Map<number, (value: unknown) => void>();
  let nextId = 0;
  return {
    call: (task, value, moved) =>
      new Promise((resolve) => {
        resolvers.set(nextId, resolve);
        post([nextId++, task, value], moved);
      }),
    settle([id, value]) {
      resolvers.get(id)!(value);
      resolvers.delete(id);
    },
  };
}

/** The worker's half: runs the task of a request and posts its answer. */
export async function answer(
  [id, task, value]: Request,
  post: Post<Response>,
): Promise<void> {
  const result = tasks[task]!(value);
  const moved = task === ECHO_MOVED ? [result as ArrayBuffer] : undefined;
  post([id, task === ASYNC_NOTHING ? await result : result], moved);
}
