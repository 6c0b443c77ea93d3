/** A hand-written worker over `postMessage` of `node:worker_threads`. */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { answer, createCalls, type MessageCalls, type Request } from "./message-calls.ts";

const MARK = "heddle-benchmark-post-message";

interface Recipient {
  postMessage(message: unknown): void;
  postMessage(message: unknown, moved: ArrayBuffer[]): void;
}

function post(to: Recipient, message: unknown, moved?: ArrayBuffer[]): void {
  if (moved === undefined) to.postMessage(message);
  else to.postMessage(message, moved);
}

export async function startThread(): Promise<MessageCalls> {
  const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
  await new Promise((resolve) => worker.once("online", resolve));
  const { call, settle } = createCalls((request, moved) => post(worker, request, moved));
  worker.on("message", settle);
  return { call, close: () => worker.terminate() };
}

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  port.on(
    "message",
    (request: Request) => answer(request, (response, moved) => post(port, response, moved)),
  );
}
