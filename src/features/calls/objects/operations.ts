/**
 * Calls of objects that live in workers: calls of the variants OBJECT and OBJECT_STREAM (`protocol/task-variants.ts`). Their arguments are
 * the number of the object, then that of a method of its `Created`, and its arguments; or one of these:
 *
 *   CREATE    the URL of a module, the name of a class; the arguments of the constructor. Returns a `Created`
 *   GET       the name of a property. Returns its value
 *   RELEASE   nothing. Returns when the object is disposed of, at once if there is none
 */
import { Set } from "../../../builtins.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { didYouMean } from "../../../option-checks.ts";

export const CREATE = -1;
export const GET = -2;
export const RELEASE = -3;

/** The worker, and the methods, of which some are generator functions. */
export type Created = readonly [
  workerId: number,
  methods: readonly string[],
  generators: readonly string[],
];

/** Names that a handle has, or that others look for in any object: methods of these names are left out. */
export const RESERVED: ReadonlySet<string> = new Set([
  "constructor",
  "then",
  "toJSON",
  "$get",
  "$generation",
  "$release",
]);

/** Whether tasks may call the method of this name. Throws InvalidArgumentError. */
export function checkMethod(
  name: string,
  methods: readonly string[],
  generators: readonly string[],
): void {
  if (!methods.includes(name)) {
    throw new InvalidArgumentError(
      `The object has no method "${name}"${didYouMean(name, methods)}`,
    );
  }
  if (!generators.includes(name)) return;
  throw new InvalidArgumentError(`"${name}" is a generator, whose items a task cannot get.`);
}
