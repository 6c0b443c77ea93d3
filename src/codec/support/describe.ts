/** Describes values and their places in messages of errors. */
import { JSON } from "../../builtins.ts";
import { typedArrayName } from "./intrinsics.ts";

/** Longest excerpt of a value in a message, in UTF-16 units. */
const MAX_EXCERPT_UNITS = 60;

/** Describes a value in a message. Runs no user code. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing (missing or undefined)";
    case "string":
      return `${JSON.stringify(excerpt(value))} (string)`;
    case "number":
      return `${Object.is(value, -0) ? "-0" : value} (number)`;
    case "bigint":
      return `${excerpt(String(value))} (bigint)`;
    case "boolean":
      return `${value} (boolean)`;
    case "symbol":
      return "a symbol";
    case "function":
      return "a function";
    default:
      return describeObject(value as object | null);
  }
}

function describeObject(value: object | null): string {
  if (value === null) return "null";
  const name = typedArrayName.call(value);
  if (name !== undefined) return name;
  try {
    return Array.isArray(value) ? "an array" : "an object";
  } catch {
    return "a revoked proxy"; // the only object that Array.isArray refuses
  }
}

function excerpt(text: string): string {
  return text.length <= MAX_EXCERPT_UNITS ? text : `${text.slice(0, MAX_EXCERPT_UNITS)}…`;
}

/** The step to a property: `.name`, or `["a key"]` if the key is not an identifier. */
export function propertyStep(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? `.${key}`
    : `[${JSON.stringify(key)}]`;
}
