/**
 * What loading `heddle/shared` does: threads that this one starts from now on get their part in its data. The only file of
 * `shared/` that knows the runtime.
 */
import { currentRuntime } from "../runtimes/current.ts";
import { type HookedThread, setThreadHooks, threadHooks } from "../realm/thread-hooks.ts";
import { setHandleSupport } from "../realm/handles.ts";
import { makeHandle } from "./handles.ts";
import { withHandles, withoutHandles } from "./handles-in-data.ts";
import { answer } from "./named.ts";
import { setRuntime, thisThread } from "./threads/this-thread.ts";

setRuntime(currentRuntime);
setHandleSupport({ make: makeHandle, pack: withoutHandles, unpack: withHandles });

function begin(): HookedThread {
  const thread = thisThread();
  thread.checkLife();
  const { root } = thread;
  const token = root.begin(thread.token);
  thread.children++;
  const fence = (): void => {
    for (const each of root.family(token)) root.fence(each, thread.nowMs);
  };
  return {
    onStop: fence,
    start: { root: root.buffer, token },
    onMessage: answer,
    onEnd(isCertain) {
      const end = (): void => {
        thread.children--;
        // Asked again: one that was still running may have started more until it was fenced.
        for (const each of root.family(token)) root.end(each);
      };
      if (isCertain && root.family(token).length === 1) return end();
      // It may still run for some instructions, and on Deno for ever; its own threads end after it.
      fence();
      thread.whenGone(token, end);
    },
  };
}

if (threadHooks() === undefined) setThreadHooks({ begin });
