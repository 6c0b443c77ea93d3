/**
 * Objects of the platform (Blob, MessagePort, Event, …): those with the prototype of a global class that
 * does not belong to the language, or of another class that the runtime recognizes (KeyObject, Histogram).
 * Only the runtime knows how structured clone treats them.
 */
import { Set, WeakMap } from "../../../../builtins.ts";
import type { ObjectKinds } from "../../../../runtimes/runtime.ts";
import { inherits } from "../../../../codec/support/prototypes.ts";

const LANGUAGE: readonly string[] =
  ("Object Function Array Number String Boolean Symbol BigInt Date RegExp Map Set Error EvalError " +
    "RangeError ReferenceError SyntaxError TypeError URIError AggregateError").split(" ");

/**
 * Only the names, as they were when heddle was loaded: reading the values would load lazy modules, such as all of Node's
 * `fetch`, in the host and in every worker (18 ms and 7 MiB each).
 */
const platformNames = new Set(Object.getOwnPropertyNames(globalThis));
for (const name of LANGUAGE) platformNames.delete(name);
const known = new WeakMap<object, boolean>();
const { getOwnPropertyDescriptor } = Object;

/** Whether a prototype belongs to a class of the platform. Runs no user code. */
function isOfPlatform(kinds: ObjectKinds, prototype: object): boolean {
  const before = known.get(prototype);
  if (before !== undefined) return before;
  if (kinds.isProxy(prototype)) return false;
  const found = getOwnPropertyDescriptor(prototype, "constructor")?.value as unknown;
  const isClass = typeof found === "function" && !kinds.isProxy(found);
  const isPlatform = isClass && isGlobalClass(found, prototype) || kinds.isHostClass(prototype);
  known.set(prototype, isPlatform);
  return isPlatform;
}

/** A class that the program has replaced, or that Deno has not loaded yet, still has its tag. */
function isGlobalClass(constructor: object, prototype: object): boolean {
  const name = getOwnPropertyDescriptor(constructor, "name")?.value as unknown;
  return typeof name === "string" && platformNames.has(name) &&
    (getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.value === name ||
      getOwnPropertyDescriptor(globalThis, name)?.value === constructor);
}

/** Whether `prototype` or one it inherits from belongs to the platform. */
export function isPlatformObject(kinds: ObjectKinds, prototype: object): boolean {
  return inherits(kinds, prototype, (parent) => isOfPlatform(kinds, parent));
}
