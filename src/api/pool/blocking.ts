/** Connects the waits of a host, in its event loop and without it (`pool.sync`), with the parts of its pool. */
import { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import type { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { HostRequests } from "../../host/requests/host-requests.ts";
import type { Supervisor } from "../../host/workers/supervisor.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import { SpinPolicy } from "../../sync/spin-policy.ts";
import { HostParker } from "../../sync/host-parking.ts";
import { HOST_PARKED_WORD, HOST_SPINS } from "../../lane/layout.ts";
import type { BlockableTimers } from "./blockable-timers.ts";
import { workerRealm } from "../../realm/worker-realm.ts";
import type { Observing } from "../observe/observing.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

export function createWaiting(
  { runtime, options: { spinMs } }: PoolSpec,
  hostControl: SharedArrayBuffer,
  active: AwakeCount,
): HostWaiting {
  const words = new Int32Array(hostControl);
  const policy = new SpinPolicy(words, HOST_SPINS, runtime.now, spinMs > 0);
  return { parker: new HostParker(words, HOST_PARKED_WORD), active, policy, spinMs };
}

export function createBlocking(
  { runtime }: PoolSpec,
  waiting: HostWaiting,
  calls: Dispatcher,
  loop: PollLoop,
  timers: BlockableTimers,
  parts: () => {
    readonly supervisor: Supervisor;
    readonly broadcasts: Broadcasts;
    readonly requests: HostRequests;
    readonly observing: Observing;
  },
): BlockingWait {
  const check = (isTick: boolean): boolean => {
    const { supervisor, broadcasts, requests } = parts();
    if (isTick) {
      timers.runDue(runtime.now());
      supervisor.checkLoad();
      workerRealm()?.shared.take(); // a worker below this one may wait for it
    }
    const hasOpened = broadcasts.runFinished();
    const hasNews = supervisor.checkWorkers(isTick);
    takeRequests();
    if (isTick) requests.check();
    return hasNews || hasOpened;
  };
  const takeRequests = (): void => parts().requests.takeAll();
  return new BlockingWait({
    runtime,
    waiting,
    calls,
    loop,
    // In the event loop a microtask does this.
    pool: { check, takeRequests, begin: () => parts().observing.stamps?.forget() },
  });
}
