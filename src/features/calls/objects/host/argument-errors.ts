/** Errors of arguments, which name these as the caller of a method counts them. */
import { HeddleError } from "../../../../errors.ts";

/** The place of a part among the arguments: `args[2].user`. */
const PLACE = /\bargs\[(\d+)\]/;

/** The error of a call that sent `before` arguments of heddle's own in front of the caller's. */
export function withoutLeading(error: unknown, before: number): unknown {
  if (!(error instanceof HeddleError)) return error;
  const corrected = (text: string): string =>
    text.replace(PLACE, (_, index) => `args[${Number(index) - before}]`);
  error.message = corrected(error.message);
  if (error.stack !== undefined) error.stack = corrected(error.stack);
  return error;
}
