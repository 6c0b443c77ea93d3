/**
 * The code that encodes, decodes and describes structs, for the parts that work without it. `heddle` provides it when it
 * is imported. In a bundle, where code that nothing calls is left out, the first `struct()` does.
 */
import { InvalidArgumentError } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import type { rebuildArgument, rebuildStruct } from "./rebuild.ts";
import type { describeSignature, signatureOf } from "./signature.ts";

export interface StructCode {
  readonly signatureOf: typeof signatureOf;
  readonly describeSignature: typeof describeSignature;
  readonly rebuildArgument: typeof rebuildArgument;
  readonly rebuildStruct: typeof rebuildStruct;
}

/** On `globalThis`, since a bundle of tasks has its own copy of heddle. */
const KEY = Symbol.for(`heddle.structs.${VERSION}`);
const shared = globalThis as { [KEY]?: StructCode };

export function provideStructs(code: StructCode): void {
  shared[KEY] ??= code;
}

export function findStructs(): StructCode | undefined {
  return shared[KEY];
}

/** Throws InvalidArgumentError if a bundle has left the code out: its `struct()` is not the one that was called. */
export function structCode(): StructCode {
  const code = findStructs();
  if (code !== undefined) return code;
  throw new InvalidArgumentError(
    "A task declares structs, but this bundle has no code for them: its copy of heddle is not the one whose struct() " +
      "was called. Bundle both heddle and heddle/task, or neither.",
  );
}
