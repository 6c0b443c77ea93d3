/** Connects the wait of `pool.sync` with the parts of its pool. */
import { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import type { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { HostRequests } from "../../host/requests/host-requests.ts";
import type { Supervisor } from "../../host/workers/supervisor.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { SpinPolicy } from "../../sync/spin-policy.ts";
import type { HostParker } from "../../sync/host-parking.ts";
import type { BlockableTimers } from "./blockable-timers.ts";
import { workerRealm } from "../../realm/worker-realm.ts";
import type { Observing } from "../observe/observing.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

export function createBlocking(
  { runtime, options: { spinMs } }: PoolSpec,
  parker: HostParker,
  active: AwakeCount,
  policy: SpinPolicy,
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
    parker,
    active,
    calls,
    loop,
    spinMs,
    policy,
    // In the event loop a microtask does this.
    pool: { check, takeRequests, begin: () => parts().observing.stamps?.forget() },
  });
}
