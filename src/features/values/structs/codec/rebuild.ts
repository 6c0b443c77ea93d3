/**
 * Signatures from copies of schemas: a worker sends the declarations of its tasks as plain data. Loaded when a module
 * declares some. Does not import `schema.ts`: bundlers would load this file at once with each program that might.
 */
import { InvalidArgumentError } from "../../../../errors.ts";
import {
  arrayShape,
  scalarShape,
  type Shape,
  type StructShape,
  structShape,
  textShape,
} from "../schema/shape.ts";
import type { ScalarKind } from "./scalar-bytes.ts";
import { SCALARS } from "./scalars.ts";
import type { Signature } from "../schema/signature.ts";
import { DeclaredStruct } from "../declared.ts";
import { StructCodec } from "./struct-codec.ts";

/** A schema after structured clone, without its hidden properties. */
interface Copy {
  readonly kind: string;
  readonly max?: number;
  readonly of?: Copy;
  readonly fields?: Readonly<Record<string, Copy>>;
}

/** The signature of a task from copies of its `args` and `returns`. */
export function rebuildSignature(
  args: readonly unknown[] | undefined,
  returns: unknown,
): Signature {
  return {
    args: args?.map((copy) => copy === undefined ? undefined : declaredValue(copy as Copy)),
    returns: returns === undefined ? undefined : [declaredValue(returns as Copy)],
  };
}

function declaredValue(copy: Copy): DeclaredStruct {
  const isView = copy.kind === "view";
  const shape = rebuildStruct(isView ? copy.of! : copy);
  return new DeclaredStruct(new StructCodec(shape), isView);
}

function rebuildStruct({ fields }: Copy): StructShape {
  return structShape(
    Object.entries(fields!).map(([key, field]) => {
      const isOptional = field.kind === "optional";
      return { key, shape: rebuild(isOptional ? field.of! : field), isOptional };
    }),
  );
}

function rebuild(copy: Copy): Shape {
  const { kind, max, of } = copy;
  if (Object.hasOwn(SCALARS, kind)) return scalarShape(kind as ScalarKind);
  switch (kind) {
    case "utf8":
    case "bytes":
      return textShape(kind, max);
    case "array":
      return arrayShape(rebuild(of!), max);
    case "struct":
      return rebuildStruct(copy);
    default:
      throw new InvalidArgumentError(`The worker declares a field of the unknown kind "${kind}".`);
  }
}
