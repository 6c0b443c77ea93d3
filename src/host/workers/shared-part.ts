/** The part of a worker in shared data (`heddle/shared`), for the thread that has started it: loads the code when the worker has one. */
import {
  refuseToken,
  type ThreadHooks,
  threadHooks,
  type ThreadWords,
  WORKERS,
} from "../../realm/thread-hooks.ts";
import type { Endpoint } from "../../lane/endpoint.ts";
import { links } from "../../lane/links.ts";
import type { NoticeMessage, SharedMessage } from "../../protocol/start-data.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import { loadShared } from "../../shared-entry.ts";

/** Node cannot load a module at once while the program imports it: then it is there some milliseconds later. */
const RETRY_MS = 10;

/** Does something with what `heddle/shared` does for this thread. */
function withShared(runtime: Runtime, use: (hooks: ThreadHooks) => void): void {
  try {
    loadShared(runtime, "A worker shares data");
  } catch {
    runtime.setTimeout(() => withShared(runtime, use), RETRY_MS).unref();
    return;
  }
  use(threadHooks()!);
}

/** Answers a question of a worker, on its payload port: it may be waiting without its event loop (`pool.sync`). */
export function answerShared(
  runtime: Runtime,
  question: unknown,
  { messages }: Pick<Endpoint, "messages">,
  handle: Pick<WorkerHandle, "post">,
): void {
  withShared(runtime, ({ onMessage }) => {
    onMessage(question, (body) => {
      const message: SharedMessage = { heddle: "shared", body };
      if (links.current !== undefined) return handle.post(message); // ports are read by events there
      messages.postOther(message, []);
      handle.post({ heddle: "notice" } satisfies NoticeMessage);
    });
  });
}

/** The worker with these words is being stopped by force. */
export function stopSharing(runtime: Runtime, words: ThreadWords): void {
  const token = refuseToken(words);
  if (token !== 0) withShared(runtime, (hooks) => hooks.onStop(token));
}

/** It has ended. `isCertain`: by itself, so nothing of it can run any more. `ofHost`: the words of this thread. */
export function endSharing(
  runtime: Runtime,
  words: ThreadWords,
  ofHost: Int32Array,
  isCertain: boolean,
): void {
  const token = refuseToken(words);
  if (token === 0) {
    Atomics.sub(ofHost, WORKERS, 1);
    return;
  }
  const onMarked = (): void => void Atomics.sub(ofHost, WORKERS, 1);
  withShared(runtime, (hooks) => hooks.onEnd(token, isCertain, onMarked, runtime));
}
