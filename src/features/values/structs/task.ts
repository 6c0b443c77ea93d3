/** Shapes and schemas of arguments and results, as `task()` declares them. */
import type { TaskFeature } from "../../../api/tasks/feature.ts";
import type { DeclaredSignature } from "../../../api/tasks/task-types.ts";
import * as deferred from "./host/deferred.ts";
import { checkDeclaration } from "./schema/declaration.ts";

function signed(args: unknown, returns: unknown): DeclaredSignature {
  const signature = deferred.signatureOf(args, returns)!;
  return { signature, words: deferred.describeSignature(signature)! };
}

export const structs: TaskFeature = {
  name: "structs",

  taskOptions: ["args", "returns", "input", "output", "validateOn"],
  declare({ args, returns, ...given }, f) {
    const hasShapes = args !== undefined || returns !== undefined;
    // The module of an imported task has its schemas.
    const isChecked = f !== undefined &&
      Object.values(given).some((option) => option !== undefined);
    const validation = isChecked ? deferred.checkValidation(given, hasShapes) : undefined;
    checkDeclaration(args, returns);
    return {
      ...(hasShapes && { signature: () => signed(args, returns) }),
      ...(validation && {
        checked: (task, isChecked) => deferred.validated(task, f!, validation, isChecked),
        hostCheck: (task) => deferred.hostCheck(task, validation),
      }),
    };
  },
};
