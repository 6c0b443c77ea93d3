/** Shapes and schemas of arguments and results, as `task()` declares them. */
import type { TaskFeature } from "../../../api/tasks/feature.ts";
import type { DeclaredSignature } from "../../../api/tasks/task-types.ts";
import { checkValidation, hostCheck, validated } from "./validation.ts";
import { checkDeclaration } from "./codec/declaration.ts";
import { describeSignature, signatureOf } from "./codec/signature.ts";

function signed(args: unknown, returns: unknown): DeclaredSignature {
  const signature = signatureOf(args, returns)!;
  return { signature, words: describeSignature(signature)! };
}

export const structs: TaskFeature = {
  name: "structs",

  taskOptions: ["args", "returns", "input", "output", "validateOn"],
  declare({ args, returns, ...given }, f) {
    const hasShapes = args !== undefined || returns !== undefined;
    // The module of an imported task has its schemas.
    const validation = f === undefined ? undefined : checkValidation(given, hasShapes);
    checkDeclaration(args, returns);
    return {
      ...(hasShapes && { signature: () => signed(args, returns) }),
      ...(validation && {
        checked: (task, isChecked) => validated(task, f!, validation, isChecked),
        hostCheck: (task) => hostCheck(task, validation),
      }),
    };
  },
};
