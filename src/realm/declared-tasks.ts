/**
 * The tasks that `task()` has declared in this thread, by the place of that call. Host and worker evaluate the same
 * module, so both find the same task at the same place, whether or not the module exports it.
 */
import { Map } from "../builtins.ts";

/** A declared task and how often its place was evaluated. */
interface Declared {
  /** Undefined: the place was evaluated more than once, so it does not identify a task. */
  task: object | undefined;
}

/** On `globalThis`, since a task module may import another copy of heddle. */
const KEY = Symbol.for("heddle.declared");

const places: Map<string, Declared> = (globalThis as { [KEY]?: Map<string, Declared> })[KEY] ??=
  new Map();

/** Notes that `task` was declared at `place`. */
export function noteDeclared(place: string, task: object): void {
  const known = places.get(place);
  if (known === undefined) places.set(place, { task });
  else known.task = undefined;
}

/** The task declared at `place`, if that was evaluated exactly once. */
export function declaredAt(place: string): object | undefined {
  return places.get(place)?.task;
}
