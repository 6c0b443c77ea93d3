/**
 * Objects marked by `markAsUncloneable` of `node:worker_threads`, which structured clone refuses.
 *
 * Deno's mark is a symbol of the object. That of Node is private: only a structured clone of the object shows it (1.5 µs for a
 * small one, with all its parts), so the function is replaced by one that notes the objects. What was marked before heddle was
 * loaded is unknown. On Bun (1.4) a function that is imported by name cannot be replaced, and the module takes each thread 2.3 ms
 * to load, so marks are not seen.
 */
import { WeakSet } from "../../../builtins.ts";
import { types } from "../builtins.ts";
import { process } from "../process/process.ts";
import type { ObjectKinds } from "../../runtime.ts";

type Mark = (value: object) => void;

interface Noted {
  readonly objects: WeakSet<object>;
  /** Called with the first object; undefined after that. */
  onFirst: (() => void)[] | undefined;
}

/** Key of what the replacing function has noted, for other copies of heddle. */
const KEY = Symbol.for("heddle.uncloneable");

interface Threads {
  /** From Node 22.10 on. */
  readonly markAsUncloneable?: Mark & { readonly [KEY]?: Noted };
}

/**
 * Makes `kinds` refuse marked objects from the first mark on; until then they cost nothing. Objects of exempt kinds can be
 * cloned nevertheless.
 */
export function refuseMarked(kinds: ObjectKinds, isExempt: (value: object) => boolean): void {
  const threads = process.getBuiltinModule("node:worker_threads") as Threads;
  const { markAsUncloneable: mark } = threads;
  if (mark === undefined) return;
  const noted: Noted = mark[KEY] ?? { objects: new WeakSet(), onFirst: [] };
  const refuse = (): void => {
    (kinds as { isRefused: ObjectKinds["isRefused"] }).isRefused = (value) =>
      types.isProxy(value) || (noted.objects.has(value) && !isExempt(value));
  };
  if (noted.onFirst === undefined) refuse();
  else noted.onFirst.push(refuse);
  if (mark[KEY] !== undefined) return;
  const markAndNote: Mark = (value) => {
    mark(value);
    if (typeof value !== "object" || value === null) return;
    noted.objects.add(value);
    noted.onFirst?.forEach((callback) => callback());
    noted.onFirst = undefined;
  };
  try {
    Object.assign(threads, { markAsUncloneable: Object.assign(markAndNote, { [KEY]: noted }) });
    process.getBuiltinModule("node:module").syncBuiltinESMExports();
  } catch {
    // The module is frozen.
  }
}

/** Node clones objects of these kinds although they are marked. */
export function isExemptOnNode(value: object): boolean {
  return Array.isArray(value) || types.isMap(value) || types.isSet(value) || types.isDate(value) ||
    types.isRegExp(value) || types.isBoxedPrimitive(value) || types.isAnyArrayBuffer(value);
}

/** `ObjectKinds.isRefused` of Deno, which has no exempt kinds but ArrayBuffers. */
export function refusingMarked(): ObjectKinds["isRefused"] {
  const probe = {};
  (process.getBuiltinModule("node:worker_threads") as Threads).markAsUncloneable?.(probe);
  const [mark] = Object.getOwnPropertySymbols(probe);
  if (mark === undefined) return types.isProxy;
  return (value) =>
    types.isProxy(value) || (Object.hasOwn(value, mark) && !types.isArrayBuffer(value));
}
