/** Messages that the host has to get even while it blocks: on the payload port, where it looks for them. */
import type { RequestMessage } from "../protocol/host-requests.ts";
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
  // A host may be unable to read an attached object, which an event loop reports and numbered messages do not allow.
  if (hasAttachments(message)) return post(message);
  port.post(message, []);
  post({ heddle: "notice" });
}

function hasAttachments(message: Notice): boolean {
  const values = message.heddle === "request"
    ? message.values
    : message.heddle === "requestAbort"
    ? message.reason
    : undefined;
  return (values?.payload?.attachments.length ?? 0) > 0;
}
