/**
 * What loading `heddle/shared` does: this thread knows from now on what to do when one that it started ends. The only file of
 * `shared/` that knows the runtime.
 */
import { SharedAccessError } from "../shared-errors.ts";
import { currentRuntime } from "../runtimes/current.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import {
  HAS_HOOKS,
  setThreadHooks,
  type ThreadHooks,
  threadHooks,
  type ThreadWords,
} from "../realm/thread-hooks.ts";
import { setHandleSupport } from "../realm/handles.ts";
import { workerRealm } from "../realm/worker-realm.ts";
import { IMPORT_LINE, sharedModule } from "../shared-entry.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import { makeHandle } from "./handles.ts";
import { withHandles, withoutHandles } from "./handles-in-data.ts";
import { answer } from "./named.ts";
import { FENCE_STEP_MS, Root } from "./threads/root.ts";
import { setSurroundings } from "./threads/this-thread.ts";

/**
 * Words of the first thread, of each worker above this one, and of this one. Asked at each use: a worker that starts with a bundle
 * loads all of it before it is known as one.
 */
const threads = (): readonly ThreadWords[] => workerRealm()?.active ?? [AwakeCount.ofThread()];

/** A bundle that workers start with contains this, and so does that of their hosts. */
const isInEntry: boolean = workerRealm() === undefined;

/** Whether a thread that needs `heddle/shared` can load it itself: in a bundle it cannot. */
function isLoadable(): boolean {
  return currentRuntime.bundleMark() === undefined && sharedModule(currentRuntime) !== undefined;
}

/** Nobody would mark the death of a worker whose host can load nothing: its locks would stay locked. */
function check(): void {
  const above = threads().slice(0, -1).map(({ buffer }) => new Int32Array(buffer));
  const haveLoaded = above.every((words) => Atomics.load(words, HAS_HOOKS) === 1);
  if (haveLoaded || isInEntry || isLoadable()) return;
  throw new SharedAccessError(
    `This worker cannot share data: its host has not loaded heddle/shared, and cannot do it by itself. Add the line \`${IMPORT_LINE}\` to the program, where it creates its pool.`,
  );
}

const sharedNow = (): number => currentRuntime.now() + currentRuntime.originMs;

function fence(token: number): Root {
  const root = Root.of(threads()[0]!);
  root.fenceFamily(token, sharedNow());
  return root;
}

/** Calls back when nothing of a thread that was fenced runs any more. Does not keep the process running. */
function whenGone(
  root: Root,
  token: number,
  timers: Pick<Runtime, "setTimeout">,
  callback: () => void,
): void {
  const check = (): void => {
    if (root.isGone(token, sharedNow())) callback();
    else whenGone(root, token, timers, callback);
  };
  timers.setTimeout(check, FENCE_STEP_MS).unref();
}

const hooks: ThreadHooks = {
  onMessage: answer,
  onStop: (token) => void fence(token),
  onEnd(token, isCertain, onMarked, timers) {
    const root = fence(token);
    const end = (): void => {
      root.endFamily(token);
      onMarked();
    };
    if (isCertain && root.family(token).length === 1) return end();
    // It may still run for some instructions, and on Deno for ever; its own threads end after it.
    whenGone(root, token, timers, end);
  },
};

setSurroundings({ runtime: currentRuntime, threads, check });
setHandleSupport({ make: makeHandle, pack: withoutHandles, unpack: withHandles });
if (threadHooks() === undefined) {
  setThreadHooks(hooks);
  Atomics.store(new Int32Array(threads().at(-1)!.buffer), HAS_HOOKS, 1);
}
