/** Packs the reason of an abort for a worker: any value; errors by their fields. */
import { DOMException } from "../builtins.ts";
import { packError, unpackError } from "../codec/codec.ts";
import { isError } from "../codec/kinds/errors.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import type { PackedReason } from "./start-data.ts";

/** The reason of an abort that has none. */
export function abortError(): DOMException {
  return new DOMException("This operation was aborted.", "AbortError");
}

/** Why a signal is aborted. Those of old polyfills have no reason. */
export function reasonOf({ reason }: AbortSignal): unknown {
  return reason === undefined ? abortError() : reason;
}

export function packReason(access: CodecAccess, reason: unknown): PackedReason {
  if (reason instanceof DOMException) return { dom: [reason.message, reason.name] };
  return isError(reason) ? { error: packError(access, reason) } : { value: reason };
}

export function unpackReason(access: CodecAccess, packed: PackedReason): unknown {
  if ("dom" in packed) return new DOMException(...packed.dom);
  return "error" in packed ? unpackError(access, packed.error) : packed.value;
}
