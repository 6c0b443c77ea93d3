/** Handles within `worker.data`, which structured clone copies: a placeholder travels in place of each. */
import { Map, Set } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import { HANDLE, type HandleParts, PACKED } from "../realm/handles.ts";
import { makeHandle } from "./handles.ts";

/** In place of a handle in what structured clone copies. */
interface Placeholder {
  readonly [PLACEHOLDER]: string;
  readonly buffer: SharedArrayBuffer;
}
const PLACEHOLDER = "heddle.handle";

/** A copy of arrays, plain objects, maps and sets with placeholders for handles, marked; the value itself if it has none. */
export function withoutHandles(value: unknown): unknown {
  const packed = replace(value, (object) => {
    if (!Object.hasOwn(object, HANDLE)) return undefined;
    const { kind, buffer, departure } =
      (object as Readonly<Record<typeof HANDLE, HandleParts>>)[HANDLE];
    if (departure !== undefined) {
      departure.end();
      throw new InvalidArgumentError(
        "an end of a channel arrives in one thread: send it in a call, or use a channel with a name (shared.channel).",
      );
    }
    return { [PLACEHOLDER]: kind, buffer } satisfies Placeholder;
  });
  return packed === value ? value : { [PACKED]: packed };
}

/** The same value with handles for the placeholders. */
export function withHandles(value: unknown): unknown {
  return replace(value, (object) => {
    if (!Object.hasOwn(object, PLACEHOLDER)) return undefined;
    const { [PLACEHOLDER]: kind, buffer } = object as Placeholder;
    return makeHandle(kind, buffer);
  });
}

/** Replaces objects at any depth: those for which `other` returns one. Copies what contains some, and nothing else. */
function replace(value: unknown, other: (object: object) => object | undefined): unknown {
  const known = new Map<object, unknown>();
  const visit = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    if (known.has(part)) return known.get(part);
    const replaced = other(part);
    known.set(part, replaced ?? part);
    if (replaced !== undefined) return replaced;
    const copy = copyIfChanged(part, visit);
    known.set(part, copy);
    return copy;
  };
  return visit(value);
}

function copyIfChanged(object: object, visit: (part: unknown) => unknown): unknown {
  const prototype = Object.getPrototypeOf(object) as unknown;
  if (Array.isArray(object)) {
    const items = object.map(visit);
    return items.some((item, index) => item !== object[index]) ? items : object;
  }
  if (object instanceof Map) {
    const entries = [...object].map(([key, part]) => [key, visit(part)] as const);
    return entries.some(([key, part]) => part !== object.get(key)) ? new Map(entries) : object;
  }
  if (object instanceof Set) {
    const parts = [...object].map(visit);
    return parts.every((part) => object.has(part)) ? object : new Set(parts);
  }
  if (prototype !== Object.prototype && prototype !== null) return object;
  const entries = Object.entries(object);
  const changed = entries.map(([key, part]) => [key, visit(part)] as const);
  return changed.some(([, part], index) => part !== entries[index]![1])
    ? Object.fromEntries(changed)
    : object;
}
