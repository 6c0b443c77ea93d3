/** What workers call by reference: listeners of the host, and objects that live in other workers. */
import { Promise } from "../../../../builtins.ts";
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

/** Calls an object, also from a host that blocks: it is in a worker. False: it is not there yet, which a host that blocks cannot wait for. */
export function callObject(
  references: SentReferences,
  { header: [, which], args }: TakenRequest,
  settle: Settle,
): boolean {
  const [found] = references.get(which as number) ?? [];
  if (found?.kind === OBJECT_KIND && !found.isReady()) return false;
  try {
    if (found?.kind !== OBJECT_KIND) throw new ObjectLostError(GONE);
    (found.f as CallObject)(
      args,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
  } catch (error) {
    settle(true, error);
  }
  return true;
}

/** The same as a function of the host, for an object that is not there yet. */
export function laterCallOf(references: SentReferences, number: number): AnyCallback {
  return (...args) =>
    new Promise((resolve, reject) => {
      const [found] = references.get(number) ?? [];
      if (found === undefined) throw new ObjectLostError(GONE);
      (found.f as CallObject)(args, resolve, reject);
    });
}
