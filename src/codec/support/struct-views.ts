/** Recognizes views of structs without the code that creates them, whose copies each add a check with their first view. */

type Check = (object: object) => boolean;

/** On `globalThis`, since a task module may import another copy of heddle than the worker has. */
const KEY = Symbol.for("heddle.views");
const checks: Check[] = (globalThis as { [KEY]?: Check[] })[KEY] ??= [];

export function recognizeViews(isView: Check): void {
  if (!checks.includes(isView)) checks.push(isView);
}

/** Whether `object` is a view of a record or of a part of one. */
export function isStructView(object: object): boolean {
  return checks.some((isView) => isView(object));
}
