/** Sending side of a payload port: what held values say goes by it, in one message. */
import { isStackOverflow, textOf } from "../codec/fault.ts";
import { bufferIsDetached } from "../codec/intrinsics.ts";
import { DataCloneError } from "../errors.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import { detached, type Held } from "./hold.ts";
import type { PayloadMessage } from "./payload-inbox.ts";

/**
 * Posts the payload of `held`, of which `transfer` moves. Runs no code of the user's. Throws DataCloneError for what
 * cannot be cloned or moved; nothing was posted then.
 */
export function postPayload(port: PayloadPort, held: Held, transfer: readonly unknown[]): void {
  const { attached } = held;
  try {
    port.post(messageOf(held), transfer);
    return;
  } catch (error) {
    // `detached` knows better what cannot be moved, unless the port has begun with it.
    if (attached.length === 0 || attached.some(isDetached)) throw refusalOf(error);
  }
  const kept = detached(held);
  try {
    port.post(messageOf(kept), kept.transfer);
  } catch (error) {
    throw refusalOf(error);
  }
}

function messageOf({ payload }: Held): PayloadMessage {
  const { buffer, extras } = payload!;
  return buffer === undefined ? extras : [...extras, buffer];
}

const isDetached = (buffer: ArrayBuffer): boolean => bufferIsDetached.call(buffer);

/** Ports refuse in errors of the runtime's own. */
function refusalOf(error: unknown): unknown {
  return isStackOverflow(error) ? error : new DataCloneError(textOf(error), { cause: error });
}
