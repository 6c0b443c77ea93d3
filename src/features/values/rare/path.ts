/**
 * The path of a part within a value: `args[0].user.onClick`. It is found after a failure, from the objects
 * that were being written, so that it costs nothing during encoding. Runs no getter again.
 */
import {
  dataViewBuffer,
  typedArrayBuffer,
  typedArrayName,
} from "../../../codec/support/intrinsics.ts";
import { Map, Set } from "../../../builtins.ts";
import { propertyStep } from "../../../codec/support/describe.ts";
import { Transfer } from "./transfer.ts";

const mapForEach: (
  this: Map<unknown, unknown>,
  visit: (value: unknown, key: unknown) => void,
) => void = Map.prototype.forEach;

/** Maximum number of entries of one object that are searched. */
const MAX_ENTRIES = 10_000;

/** `parents`: the objects from the outermost to the one that holds `part`. */
export function pathTo(parents: readonly unknown[], part: unknown, name: string): string {
  let path = name;
  for (let level = 0; level < parents.length; level++) {
    const next = level + 1 < parents.length ? parents[level + 1] : part;
    path += stepTo(parents[level] as object, next);
  }
  return path;
}

function stepTo(parent: object, part: unknown): string {
  if (parent instanceof Map) {
    let found = "";
    mapForEach.call(parent, (value, key) => {
      if (Object.is(unwrapped(value), unwrapped(part))) found ||= `.get(${keyText(key)})`;
      else if (Object.is(key, part)) found ||= ".keys()";
    });
    return found;
  }
  if (parent instanceof Set) return ".values()";
  return stepToProperty(parent, part);
}

/** The property that holds `part`, or else the only getter that may have returned it. */
function stepToProperty(parent: object, part: unknown): string {
  const getters: string[] = [];
  const isArray = Array.isArray(parent);
  for (const key of Reflect.ownKeys(parent).slice(0, MAX_ENTRIES)) {
    if (typeof key === "symbol") continue;
    const property = Reflect.getOwnPropertyDescriptor(parent, key);
    if (property === undefined) continue;
    if ("value" in property) {
      const { value } = property;
      if (Object.is(unwrapped(value), unwrapped(part)) || isViewOf(value, part)) {
        return step(key, isArray);
      }
    } else getters.push(key);
  }
  return getters.length === 1 ? step(getters[0]!, isArray) : "";
}

/** A view stands for its buffer. Runs no user code. */
function isViewOf(value: unknown, buffer: unknown): boolean {
  if (!ArrayBuffer.isView(value)) return false;
  const bufferOf = typedArrayName.call(value) === undefined ? dataViewBuffer : typedArrayBuffer;
  return bufferOf.call(value) === buffer;
}

/** The value that is written: the content of a wrapper, otherwise the value itself. */
function unwrapped(value: unknown): unknown {
  const isTransfer = typeof value === "object" && value !== null &&
    Transfer.listOf(value) !== undefined;
  return isTransfer ? (value as Transfer).value : value;
}

function step(key: string, isArray: boolean): string {
  return isArray && /^\d+$/.test(key) ? `[${key}]` : propertyStep(key);
}

function keyText(key: unknown): string {
  return typeof key === "object" && key !== null ? "…" : String(key);
}
