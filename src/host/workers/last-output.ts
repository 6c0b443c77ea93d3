/**
 * Prints the last output of workers. A worker's `console.log` is a message to its host (Node), or is written when
 * the worker's event loop turns (Bun). A process that ends because nothing keeps it running waits for neither. So
 * before it ends, pools that have taken responses since the last time request a message from each worker once its
 * output has arrived. Waiting for that message keeps the process running.
 */
import type { HostRuntime } from "../../runtimes/runtime.ts";

/** Watches for the end of the process. Returns a function that ends this. */
export function printLastOutput(
  { onBeforeExit }: Pick<HostRuntime, "onBeforeExit">,
  responses: { readonly taken: number },
  workers: { readonly threads: Iterable<{ awaitOutput(): void }> },
): () => void {
  let responsesBefore = 0;
  // The event occurs again when the output has arrived. Then it must request nothing, or the process would never end.
  return onBeforeExit(() => {
    if (responses.taken === responsesBefore) return;
    responsesBefore = responses.taken;
    for (const worker of workers.threads) worker.awaitOutput();
  });
}
