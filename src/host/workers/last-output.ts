/**
 * Prints the last output of workers. A worker's `console.log` is a message to its host (Node), or is written when
 * the worker's event loop turns (Bun). A process that ends because nothing keeps it running waits for neither. So
 * before it ends, pools that have taken responses since the last time request a message from each worker once its
 * output has arrived. Waiting for that message keeps the process running.
 */
import type { Runtime } from "../../runtimes/runtime.ts";

/** Returns a function that ends it. */
export function watchOutput(
  { onBeforeExit }: Pick<Runtime, "onBeforeExit">,
  responses: { readonly taken: number },
  workers: { readonly threads: Iterable<{ awaitOutput(): void }> },
): () => void {
  let taken = 0;
  return onBeforeExit(() => {
    // The event occurs again when the output has arrived: a pool that requests it again would keep the process from ending.
    if (responses.taken === taken) return;
    ({ taken } = responses);
    for (const worker of workers.threads) worker.awaitOutput();
  });
}
