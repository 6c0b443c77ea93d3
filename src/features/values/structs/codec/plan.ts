/** The writer and the reader of a shape, generated once and kept with the shape. */
import { WeakMap } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { canCompile } from "../../../../codec/support/code-generation.ts";
import { compileArray, compileScalar, compileStruct, type Plan } from "./compile.ts";
import { expectedOf, type Shape, type TextShape } from "../schema/shape.ts";
import {
  readBoundedBytes,
  readBoundedText,
  readBytes,
  readText,
  writeBoundedBytes,
  writeBoundedText,
  writeBytes,
  writeText,
} from "./text.ts";

/** Memoizes `make` by shape. */
export function oncePerShape<Of extends Shape, Made>(
  make: (shape: Of) => Made,
): (shape: Of) => Made {
  const made = new WeakMap<Of, Made>();
  return (shape) => {
    let result = made.get(shape);
    if (result === undefined) made.set(shape, result = make(shape));
    return result;
  };
}

/** Throws InvalidArgumentError if code generation from strings is forbidden. */
export const planOf: (shape: Shape) => Plan = oncePerShape((shape) => {
  if (!canCompile()) {
    throw new InvalidArgumentError(
      "A struct() needs code generation from strings, which this process forbids " +
        "(--disallow-code-generation-from-strings or a content security policy). Leave `args` and `returns` out of " +
        "the task: its values then cross as any others do.",
    );
  }
  switch (shape.kind) {
    case "utf8":
    case "bytes":
      return textPlan(shape);
    case "array":
      return compileArray(shape, planOf(shape.of));
    case "struct":
      return compileStruct(shape, shape.fields.map((field) => planOf(field.shape)));
    default:
      return compileScalar(shape);
  }
});

function textPlan(shape: TextShape): Plan {
  const { kind, max } = shape;
  const expected = expectedOf(shape);
  if (kind === "utf8") {
    return max === undefined
      ? { write: (out, rel, value) => writeText(out, rel, value, expected), read: readText }
      : {
        write: (out, rel, value) => writeBoundedText(out, rel, value, max, expected),
        read: (input, at) => readBoundedText(input, at, max),
      };
  }
  return max === undefined
    ? { write: (out, rel, value) => writeBytes(out, rel, value, expected), read: readBytes }
    : {
      write: (out, rel, value) => writeBoundedBytes(out, rel, value, max, expected),
      read: (input, at) => readBoundedBytes(input, at, max),
    };
}
