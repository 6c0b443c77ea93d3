/** Sending side of a payload port: what held values say goes by it, in one message. */
import { isStackOverflow, textOf } from "../codec/fault.ts";
import { DataCloneError } from "../errors.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import type { Held } from "./hold.ts";
import type { PayloadMessage } from "./payload-inbox.ts";

/**
 * Posts the payload of `held`, of which `transfer` moves. Runs no code of the user's. Throws DataCloneError for what
 * cannot be cloned or moved; nothing was posted then.
 */
export function postPayload(port: PayloadPort, held: Held, transfer: readonly unknown[]): void {
  try {
    port.post(messageOf(held), transfer);
  } catch (error) {
    throw refusalOf(error);
  }
}

function messageOf({ payload }: Held): PayloadMessage {
  const { buffer, extras } = payload!;
  return buffer === undefined ? extras : [...extras, buffer];
}

/** Ports refuse in errors of the runtime's own, which name no part. */
function refusalOf(error: unknown): unknown {
  if (isStackOverflow(error)) return error;
  return new DataCloneError(`A part cannot be cloned or cannot be moved: ${textOf(error)}`, {
    cause: error,
  });
}
