/**
 * Objects of the platform (Blob, MessagePort, Event, …): those with a prototype of a global class that
 * is not of the language. Only the runtime knows what structured clone makes of them.
 */
import type { ObjectKinds } from "../runtimes/runtime.ts";

const LANGUAGE: ReadonlySet<string> = new Set([
  "Object",
  "Function",
  "Array",
  "Number",
  "String",
  "Boolean",
  "Symbol",
  "BigInt",
  "Date",
  "RegExp",
  "Map",
  "Set",
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
  "AggregateError",
]);

const platformPrototypes: ReadonlySet<object> = new Set(findPlatformPrototypes());

function* findPlatformPrototypes(): Generator<object> {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (LANGUAGE.has(name)) continue;
    const property = Object.getOwnPropertyDescriptor(globalThis, name)!;
    // Getters load modules lazily, or warn: a class that nobody has used has no instances.
    if (typeof property.value !== "function") continue;
    const { prototype } = property.value as { readonly prototype?: unknown };
    if (typeof prototype === "object" && prototype !== null) yield prototype;
  }
}

/** Whether `prototype` or one it inherits from belongs to the platform. */
export function isPlatformObject(kinds: ObjectKinds, prototype: object): boolean {
  return inherits(kinds, prototype, (parent) => platformPrototypes.has(parent));
}

/** Whether `prototype`, or one it inherits from, is the one asked for. Ends at a proxy, whose traps it does not run. */
export function inherits(
  kinds: ObjectKinds,
  prototype: object,
  isIt: (parent: object) => boolean,
): boolean {
  for (let next: object | null = prototype; next !== null; next = Object.getPrototypeOf(next)) {
    if (isIt(next)) return true;
    if (kinds.isProxy(next)) return false;
  }
  return false;
}
