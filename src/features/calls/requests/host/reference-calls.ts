/** What workers call by reference: listeners of the host, and objects that live in other workers. */
import { CallbackEndedError, ObjectLostError } from "../../../../errors.ts";
import type { AnyCallback } from "../callback-value.ts";
import { type CallObject, LISTENER_KIND, OBJECT_KIND, type SentReferences } from "../references.ts";
import type { TakenRequest } from "./request.ts";

/** Takes the end of a request. */
export type Settle = (isThrown: boolean, value: unknown) => void;

const GONE = "The object is gone: it was released, or its worker has ended.";

/** The function of a listener, or why there is none. */
export function listenerOf(
  references: SentReferences,
  number: number,
): AnyCallback | CallbackEndedError {
  const [found] = references.get(number) ?? [];
  return found?.kind === LISTENER_KIND ? found.f as AnyCallback : new CallbackEndedError();
}

/** Calls an object, also from a host that blocks: it is in a worker. */
export function callObject(
  references: SentReferences,
  { header: [, which], args }: TakenRequest,
  settle: Settle,
): void {
  const [found] = references.get(which as number) ?? [];
  if (found?.kind !== OBJECT_KIND) return settle(true, new ObjectLostError(GONE));
  try {
    (found.f as CallObject)(
      args,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
  } catch (error) {
    settle(true, error);
  }
}
