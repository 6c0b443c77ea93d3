/** What the errors of the NATS client mean for a request about durable calls. */
import { Error } from "../../builtins.ts";
import { HeddleError, NoMachinesError } from "../../errors.ts";

const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
/** The stream has another message of this subject. The second code is of servers since 2.11. */
const WRONG_LAST_SEQUENCE: readonly unknown[] = [10071, 10164];
const UNAVAILABLE = 503;

const fieldsOf = (error: unknown) =>
  Object(error) as {
    readonly name?: unknown;
    readonly code?: unknown;
    readonly status?: unknown;
    readonly cause?: unknown;
  };

/** Nothing on the server takes the request: JetStream is off or still starting, or the stream is missing. */
function isUnheard(error: unknown): boolean {
  const { name, cause } = fieldsOf(error);
  return name === "JetStreamNotEnabled" && fieldsOf(cause).name === "RequestError";
}

/** A stream or the consumer may be missing. */
export function isMissing(error: unknown): boolean {
  const { code } = fieldsOf(error);
  return code === STREAM_NOT_FOUND || code === CONSUMER_NOT_FOUND || isUnheard(error);
}

/** Another request has been first. */
export const isTaken = (error: unknown): boolean =>
  WRONG_LAST_SEQUENCE.includes(fieldsOf(error).code);

/** The same request may succeed later: the server has not answered, or has no room or no leader now. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof HeddleError) return false;
  const { name, status } = fieldsOf(error);
  return name === "TimeoutError" || status === UNAVAILABLE || isMissing(error);
}

/** An error of heddle: as it is; any other as the cause of NoMachinesError. */
export function codedError(what: string, error: unknown): HeddleError {
  if (error instanceof HeddleError) return error;
  const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  return new NoMachinesError(`${what}: ${reason}.`, { cause: error });
}
