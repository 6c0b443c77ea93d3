/**
 * A hand-written web worker over `postMessage`. For Deno, whose `node:worker_threads` walks through
 * typed arrays element by element: 1 MiB takes it a hundred times as long.
 */
import { answer, createCalls, type MessageCalls, NOTHING, type Request } from "./message-calls.ts";

const MARK = "heddle-benchmark-web-worker";

export async function startWebWorker(): Promise<MessageCalls> {
  const worker = new Worker(new URL(import.meta.url), { type: "module", name: MARK });
  const { call, settle } = createCalls((request, moved = []) => worker.postMessage(request, moved));
  worker.onmessage = ({ data }) => settle(data);
  await call(NOTHING);
  return { call, close: () => Promise.resolve(worker.terminate()) };
}

// A worker is named by whoever starts it; the main thread of Deno has no name.
if ((globalThis as { name?: string }).name === MARK) {
  globalThis.onmessage = ({ data }: MessageEvent<Request>) =>
    answer(data, (response, transfer = []) => globalThis.postMessage(response, { transfer }));
}
