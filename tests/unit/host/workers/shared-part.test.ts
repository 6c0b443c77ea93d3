/** What a host does for workers that share data, which it may not have loaded the code for. */
import { expect, test } from "vitest";
import { AwakeCount } from "../../../../src/sync/awake-count.ts";
import { endSharing, stopSharing } from "../../../../src/host/workers/shared-part.ts";
import { setHandleSupport } from "../../../../src/realm/handles.ts";
import { setThreadHooks, TOKEN, WORKERS } from "../../../../src/realm/thread-hooks.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import type { Runtime } from "../../../../src/runtimes/runtime.ts";

test("the end of a worker is marked when the code is there, which may not be loaded at once", () => {
  const seen: unknown[] = [];
  const timers: (() => void)[] = [];
  let loads = 0;
  const runtime: Runtime = {
    ...currentRuntime,
    loadNow: () => {
      // Node, while the program imports the module.
      if (++loads < 3) throw new Error("Cannot require() ES Module");
      setHandleSupport({ make: Object, pack: (value) => value, unpack: (value) => value });
      setThreadHooks({
        onMessage: () => {},
        onStop: (token) => seen.push(["stop", token]),
        onEnd: (token, isCertain, onMarked) => {
          seen.push(["end", token, isCertain]);
          onMarked();
        },
      });
    },
    setTimeout: (callback) => {
      timers.push(callback);
      return { ref: () => {}, unref: () => {}, clear: () => {} };
    },
  };
  const host = new Int32Array(WORKERS + 1);
  host[WORKERS] = 2;
  const [plain, sharing] = [AwakeCount.create(), AwakeCount.create()];
  new Int32Array(sharing.buffer)[TOKEN] = 77;

  stopSharing(runtime, plain);
  endSharing(runtime, plain, host, true);
  expect([loads, host[WORKERS]]).toEqual([0, 1]);

  stopSharing(runtime, sharing);
  endSharing(runtime, sharing, host, false);
  expect([loads, seen, timers.length, host[WORKERS]]).toEqual([2, [], 2, 1]);
  for (const callback of timers) callback();
  expect(seen).toEqual([["stop", 77], ["end", 77, false]]);
  expect([timers.length, host[WORKERS]]).toEqual([2, 0]);
});
