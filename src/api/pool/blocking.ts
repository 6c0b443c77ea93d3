/** Connects the wait of a host without its event loop (`pool.sync`) with the parts of its pool. */
import { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import { workerRealm } from "../../realm/worker-realm.ts";
import type { PoolParts } from "./parts.ts";

export function createBlocking(parts: PoolParts): BlockingWait {
  const { spec: { runtime }, waiting, dispatcher: calls, loop, supervisor, made } = parts;
  const takeRequests = (): void => made.requests?.takeAll();
  const check = (isTick: boolean): boolean => {
    if (isTick) {
      runtime.runDueTimeouts();
      supervisor.checkLoad();
      workerRealm()?.shared.take(); // a worker below this one may wait for it
    }
    const hasOpened = made.broadcasts?.runFinished() === true;
    const hasNews = supervisor.checkWorkers(isTick);
    takeRequests();
    if (isTick) made.requests?.check();
    return hasNews || hasOpened;
  };
  return new BlockingWait({
    runtime,
    waiting,
    calls,
    loop,
    // In the event loop a microtask does this.
    pool: { check, takeRequests, begin: () => parts.stamps?.forget() },
  });
}
