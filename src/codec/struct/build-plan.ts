/** The plan of a shape, compiled if that is allowed and requested, and cached with the shape. */
import { WeakMap } from "../../builtins.ts";
import { canCompile } from "../support/code-generation.ts";
import { compileArray, compileStruct } from "./compile.ts";
import { interpretArray, interpretStruct, type Plan, scalarPlan, textPlan } from "./interpret.ts";
import type { Shape } from "./shape.ts";

/** How plans are created; "interpreted" also applies if code generation from strings is not allowed. */
export type PlanMode = "compiled" | "interpreted";

/** Memoizes `make` by shape and mode. */
export function oncePerShape<Of extends Shape, Made>(
  make: (shape: Of, mode: PlanMode) => Made,
): (shape: Of, mode: PlanMode) => Made {
  const made = { compiled: new WeakMap<Of, Made>(), interpreted: new WeakMap<Of, Made>() };
  return (shape, mode) => {
    let result = made[mode].get(shape);
    if (result === undefined) made[mode].set(shape, result = make(shape, mode));
    return result;
  };
}

export const planOf: (shape: Shape, mode: PlanMode) => Plan = oncePerShape((shape, mode) => {
  const isCompiled = mode === "compiled" && canCompile();
  switch (shape.kind) {
    case "utf8":
    case "bytes":
      return textPlan(shape);
    case "array":
      return (isCompiled ? compileArray : interpretArray)(shape, planOf(shape.of, mode));
    case "struct": {
      const fields = shape.fields.map((field) => planOf(field.shape, mode));
      return (isCompiled ? compileStruct : interpretStruct)(shape, fields);
    }
    default:
      return scalarPlan(shape);
  }
});
