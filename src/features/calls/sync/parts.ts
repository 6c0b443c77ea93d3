/** Connects the wait of a host without its event loop (`pool.sync`) with the parts of its pool. Made at first use. */
import { BlockingWait } from "./blocking-wait.ts";
import { workerRealm } from "../../../realm/worker-realm.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";

export function createBlocking(host: PoolParts): BlockingWait {
  const { spec: { runtime }, waiting, dispatcher: calls, loop, supervisor } = host;
  /** What features would do in the event loop. */
  const runParts = (isTick: boolean): boolean => {
    let hasNews = false;
    for (const part of host.parts.values()) if (part.onBlocked?.(isTick) === true) hasNews = true;
    return hasNews;
  };
  const check = (isTick: boolean): boolean => {
    if (isTick) {
      runtime.runDueTimeouts();
      supervisor.checkLoad();
      workerRealm()?.shared.take(); // a worker below this one may wait for it
    }
    const hasNews = supervisor.checkWorkers(isTick);
    return runParts(isTick) || hasNews;
  };
  const begin = (): void => {
    for (const part of host.parts.values()) part.onBlock?.();
  };
  return new BlockingWait({
    runtime,
    waiting,
    calls,
    loop,
    pool: { check, takeRequests: () => void runParts(false), begin },
  });
}
