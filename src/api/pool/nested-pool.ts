/** The refusal of a pool that is created while a worker loads modules of tasks: workers without end would start. */
import { NestedPoolError } from "../../errors.ts";
import type { WorkerRealm } from "../../realm/worker-realm.ts";

const GUARD = "`if (isMain) { … createPool(…) … }` (import `isMain` from heddle)";

const IN_MODULE = "Keep the tasks in a module of their own and pass its URL: " +
  `createPool(options)(new URL("./tasks.js", import.meta.url)); or guard the call: ${GUARD}.`;

const IN_BUNDLE =
  "Every worker evaluates the bundle before its tasks, which may have a file of their own. " +
  `Guard the call: ${GUARD}; or leave heddle out of the bundle (\`external\`).`;

/** `realm`: undefined if the worker starts with a bundle that contains heddle, which knows no tasks yet. */
export function nestedPool(realm: WorkerRealm | undefined, isBundled: boolean): NestedPoolError {
  const { modules = [], bareTasks = [] } = realm ?? {};
  const names = bareTasks.map((name) => `"${name}"`).join(", ");
  const functions = `bare function${bareTasks.length === 1 ? "" : "s"} ${names}`;
  const wantsBare = names === ""
    ? ""
    : `The worker loads the module that calls createPool() to find the ${functions}. `;
  const [what, cure] = isBundled
    ? ["a bundle that contains heddle", IN_BUNDLE]
    : [modules.join(", ") || "its task modules", wantsBare + IN_MODULE];
  return new NestedPoolError(
    `createPool() was called while a worker was loading ${what}, which would start workers without end. ` +
      `${cure} To create a pool inside a worker, call createPool() in a task.`,
  );
}
