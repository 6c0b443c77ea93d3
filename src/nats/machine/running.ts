/** One call that a machine runs. */
import type { MessageQueue } from "../wire/large-messages.ts";
import type { StreamSender } from "../wire/stream-sender.ts";
import type { ArgumentReaders } from "./argument-readers.ts";

export interface Running {
  /** Subject for answers. It identifies the call. */
  readonly reply: string;
  readonly startedAt: number;
  heardAt: number;
  controller: AbortController | undefined;
  /** What the local call returned. */
  result: unknown;
  /** Sends the result if it is a stream, of this kind. */
  sender: StreamSender | undefined;
  streamKind: number;
  /** The result waits for its reader. */
  isPaused: boolean;
  /** The arguments that are streams. */
  readers: ArgumentReaders | undefined;
  readonly answers: MessageQueue;
}

/** Ends the task, if it is one that can be ended. */
export function abort({ sender, controller, result }: Running, reason: unknown): void {
  sender?.cancel();
  controller?.abort(reason);
  const { reject } = Object(result) as { reject?: unknown };
  if (typeof reject === "function") reject.call(result, reason);
}
