/** The plan of a shape, compiled where that is allowed and asked for, and kept with the shape. */
import { compileArray, compileStruct } from "./compile.ts";
import { interpretArray, interpretStruct, scalarPlan, textPlan } from "./interpret.ts";
import type { Plan } from "./plan.ts";
import type { Shape } from "./shape.ts";

/** How plans are made; "interpreted" also where code must not be made from strings. */
export type PlanMode = "compiled" | "interpreted";

const plans: Readonly<Record<PlanMode, WeakMap<Shape, Plan>>> = {
  compiled: new WeakMap(),
  interpreted: new WeakMap(),
};

/** The plan of `shape`; made once for each mode. */
export function planOf(shape: Shape, mode: PlanMode): Plan {
  const known = plans[mode].get(shape);
  if (known !== undefined) return known;
  const plan = mode === "compiled" ? compileIfAllowed(shape) : buildPlan(shape, mode);
  plans[mode].set(shape, plan);
  return plan;
}

function compileIfAllowed(shape: Shape): Plan {
  try {
    return buildPlan(shape, "compiled");
  } catch (error) {
    if (!(error instanceof EvalError)) throw error;
    return planOf(shape, "interpreted"); // a content security policy, or a flag of the runtime
  }
}

function buildPlan(shape: Shape, mode: PlanMode): Plan {
  switch (shape.kind) {
    case "utf8":
    case "bytes":
      return textPlan(shape);
    case "array": {
      const element = planOf(shape.of, mode);
      return (mode === "compiled" ? compileArray : interpretArray)(shape, element);
    }
    case "struct": {
      const fields = shape.fields.map((field) => planOf(field.shape, mode));
      return (mode === "compiled" ? compileStruct : interpretStruct)(shape, fields);
    }
    default:
      return scalarPlan(shape);
  }
}
