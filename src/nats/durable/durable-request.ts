/** What a durable call asks of its machine, and its checks: at the caller, and of messages at the machine. */
import { JSON } from "../../builtins.ts";
import { checkInteger, checkMs, invalid } from "../../api/options/checks.ts";
import { InvalidArgumentError } from "../../errors.ts";

export interface DurableRequest {
  readonly id: string;
  readonly delayMs: number;
  readonly retries: number;
}

const MAX_RETRIES = 1000;
const ID = /^[\w=-]{1,128}$/;

/** Checks the id of a durable call, which names its result. Throws InvalidArgumentError. */
export function checkId(id: unknown): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new InvalidArgumentError(
    "The id of a durable call must be 1 to 128 letters, digits, '-', '_' and '=', got " +
      `${typeof id === "string" ? JSON.stringify(id) : typeof id}.`,
  );
}

/** Throws InvalidArgumentError. */
export function checkRequest(
  { id, delayMs, retries }: { readonly [Key in keyof DurableRequest]?: unknown },
): DurableRequest {
  if (delayMs === Infinity) throw invalid("delayMs", "a finite number of milliseconds", "Infinity");
  return {
    id: checkId(id),
    delayMs: checkMs("delayMs", delayMs, 0),
    retries: checkInteger("retries", retries, 0, MAX_RETRIES),
  };
}
