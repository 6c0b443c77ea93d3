/** Messages that the host has to get even while it blocks: on the payload port, where it looks for them. */
import type { RequestMessage } from "../features/calls/requests/messages.ts";
import type { SharedMessage, WorkerMessage } from "../protocol/start-data.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";

export type Notice =
  | RequestMessage
  | SharedMessage
  | Extract<WorkerMessage, { readonly heddle: "full" }>;

/** `post` tells a host in its event loop. */
export function postNotice(
  port: PayloadPort,
  post: (message: WorkerMessage) => void,
  message: Notice,
): void {
  port.post(message, []);
  post({ heddle: "notice" });
}
