/** The declaration of a task as encoder and decoder use it. */
import type { DeclaredValue, Signature } from "../../../../codec/declared.ts";
import { DeclaredStruct } from "../declared.ts";
import { type ArgumentSchema, checkDeclaration } from "./declaration.ts";
import type { Fields, Struct } from "./field-types.ts";
import { codecOf } from "./shape-of.ts";

export type { Signature } from "../../../../codec/declared.ts";

/** The signature of a task that declares `args` or `returns`. Throws InvalidArgumentError. */
export function signatureOf(args: unknown, returns: unknown): Signature | undefined {
  checkDeclaration(args, returns);
  if (args === undefined && returns === undefined) return undefined;
  const list = args as readonly ArgumentSchema[] | undefined;
  return {
    args: list && Array.from(list, declaredArgument),
    returns: returns === undefined
      ? undefined
      : [new DeclaredStruct(codecOf(returns as Struct<Fields>), false)],
  };
}

function declaredArgument(schema: ArgumentSchema): DeclaredValue | undefined {
  if (schema === undefined) return undefined;
  const isView = schema.kind === "view";
  return new DeclaredStruct(codecOf(isView ? schema.of : schema), isView);
}

/** A description of a signature, which must be equal on both sides. */
export function describeSignature(signature: Signature | undefined): string | undefined {
  const describe = (declared: DeclaredValue | undefined): string => {
    if (declared === undefined) return "any";
    const { codec, isView } = declared as DeclaredStruct;
    return `${isView ? "view of a " : ""}${codec.describe()}`;
  };
  if (signature === undefined) return undefined;
  const args = signature.args?.map(describe).join(", ");
  const returns = signature.returns?.map(describe).join("");
  return `args: ${args === undefined ? "any" : `[${args}]`}, returns: ${returns ?? "any"}`;
}
