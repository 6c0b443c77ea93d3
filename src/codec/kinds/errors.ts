/**
 * Errors, by their fields: structured clone turns a subclass and AggregateError into plain Error, loses
 * `.errors` and own properties, and on Bun loses `cause`.
 *
 * The receiver gets an error of the nearest built-in class or heddle class, with `name`, `message`, `stack`, `cause`,
 * `AggregateError.errors`, `SuppressedError.error` and `.suppressed`, and the own enumerable properties. Parts that
 * cannot be cloned are omitted, so the contents of an error never prevent it from being reported.
 */
import {
  AggregateError,
  DOMException,
  Error,
  EvalError,
  Map,
  RangeError,
  ReferenceError,
  Set,
  SuppressedError,
  SyntaxError,
  TypeError,
  URIError,
} from "../../builtins.ts";
import { errorClasses, PayloadTooLargeError } from "../../errors.ts";
import { errorsOfEntries } from "../../heddle-error.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import { defineValue, ownValue } from "../support/own-property.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";
import {
  ARRAY,
  ERROR,
  HAS_CAUSE,
  HAS_ERRORS,
  HAS_SUPPRESSED,
  REFERENCED,
  UNDEFINED,
  VALUE_HEADER_BYTES,
} from "../tags.ts";

/** The classes that structured clone distinguishes. */
const BUILT_IN: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  Error,
};

/** Prefix of the encoded names of heddle's own classes. No other class can have such a name. */
const OWN_PREFIX = "heddle ";

/** The prototype of one of heddle's classes, those of entry points that were loaded (`errorsOfEntries`) included. */
function ownPrototype(type: string): object | undefined {
  if (!type.startsWith(OWN_PREFIX)) return undefined;
  const name = type.slice(OWN_PREFIX.length);
  return (hasOwn(errorClasses, name) ? errorClasses[name] : errorsOfEntries()[name])?.prototype;
}

/** Key of the class name on the prototypes of heddle's errors, in all copies of heddle (see errors.ts). */
const ERROR_CLASS = Symbol.for("heddle.error");

/** Values nested deeper within errors are omitted, so that long cause chains do not overflow the stack. */
export const MAX_ERROR_DEPTH = 500;

const { hasOwn, setPrototypeOf } = Object;

/** Fields of every error; all other own enumerable keys are sent as properties. */
const FIELDS: ReadonlySet<string> = new Set(["name", "message", "stack", "cause"]);

/** Whether `value` is an error of any realm, or a DOMException. */
export function isError(value: unknown): value is Error {
  if (typeof value !== "object" || value === null) return false;
  try {
    return value instanceof Error || value instanceof DOMException ||
      Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    return false; // a proxy whose traps throw
  }
}

/** Start of the RangeError message of V8 and JavaScriptCore. */
const STACK_OVERFLOW = "Maximum call stack size exceeded";
/** SpiderMonkey (Firefox) has a class for it. */
const { InternalError } = globalThis as { readonly InternalError?: ErrorConstructor };
const TOO_MUCH_RECURSION = "too much recursion";

export function isStackOverflow(error: unknown): boolean {
  // Not by a pattern, since matching one needs stack space too.
  if (error instanceof RangeError) return error.message.startsWith(STACK_OVERFLOW);
  return InternalError !== undefined && error instanceof InternalError &&
    error.message.startsWith(TOO_MUCH_RECURSION);
}

/** Text for any value, errors by their message. Never throws. */
export function textOf(value: unknown): string {
  return tryTo(
    () => isError(value) ? String(value.message) : String(value),
    "a value that cannot be shown",
  );
}

/** Writes an error that was not written before. Runs its getters and ignores their errors. */
export function writeError(writer: Writer, error: Error, from: number): number {
  const type = typeOf(error);
  const name = read(error, "name");
  const message = read(error, "message");
  const stack = read(error, "stack");
  let at = writer.header(ERROR, 0, from);
  at = writer.value(type, at);
  at = writer.value(typeof name === "string" && name !== type ? name : undefined, at);
  at = writer.value(typeof message === "string" ? message : "", at);
  at = writer.value(typeof stack === "string" ? stack : undefined, at);
  let flags = 0;
  if (tryTo(() => hasOwn(error, "cause"), false)) {
    const end = writeIfCloneable(writer, read(error, "cause"), at);
    if (end !== NOT_CLONED) {
      flags |= HAS_CAUSE;
      at = end;
    }
  }
  if (type === "AggregateError") {
    flags |= HAS_ERRORS;
    const errors = read(error, "errors");
    at = writeErrors(writer, tryTo(() => Array.isArray(errors) ? [...errors] : [], []), at);
  }
  if (type === "SuppressedError") {
    flags |= HAS_SUPPRESSED;
    at = writeErrors(writer, [read(error, "error"), read(error, "suppressed")], at);
  }
  let properties = 0;
  for (const key of tryTo(() => Object.keys(error), [])) {
    if (isField(key, type, name)) continue;
    const mark = writer.mark();
    const value = key === "name" ? name : read(error, key);
    const end = writeIfCloneable(writer, value, writer.value(key, at));
    if (end === NOT_CLONED) writer.rewind(mark); // the key as well
    else {
      properties++;
      at = end;
    }
  }
  const word = from >> 2;
  writer.i32[word]! |= flags;
  writer.i32[word + 1] = properties;
  return at;
}

/** Whether a property has been written as one of the error's fields. */
function isField(key: string, type: string, name: unknown): boolean {
  if (key === "errors") return type === "AggregateError";
  if (key === "error" || key === "suppressed") return type === "SuppressedError";
  return FIELDS.has(key) && (key !== "name" || typeof name === "string");
}

function writeErrors(writer: Writer, errors: readonly unknown[], from: number): number {
  let at = writer.header(ARRAY, errors.length, from);
  for (const error of errors) {
    const end = writeIfCloneable(writer, error, at);
    at = end === NOT_CLONED ? writer.tag(UNDEFINED, at) : end;
  }
  return at;
}

const NOT_CLONED = -1;

/** Writes `value` if it can be cloned. Returns its end, or NOT_CLONED. */
function writeIfCloneable(writer: Writer, value: unknown, at: number): number {
  const mark = writer.mark();
  if (mark.depth > MAX_ERROR_DEPTH) return NOT_CLONED;
  const { mayMove } = writer;
  writer.mayMove = false;
  try {
    return writer.value(value, at);
  } catch (error) {
    // A stack overflow may have interrupted any step, so the whole encoding fails.
    if (error instanceof PayloadTooLargeError || isStackOverflow(error)) throw error;
    writer.rewind(mark);
    return NOT_CLONED;
  } finally {
    writer.mayMove = mayMove;
  }
}

/** On V8 assigning a stack costs 60 ns, defining it 480. On JavaScriptCore assigning makes it enumerable. */
function findStackAssignable(): boolean {
  const error = createError("Error", undefined, "");
  error.stack = "";
  return Object.getOwnPropertyDescriptor(error, "stack")?.enumerable === false;
}

/** Undefined until the first error is read. */
let isStackAssignable: boolean | undefined;

/** Reads ERROR at `at`, whose first word is `word`. */
export function readError(reader: Reader, at: number, word: number): Error {
  const properties = reader.count(at, 2 * VALUE_HEADER_BYTES);
  const type = reader.value(at + VALUE_HEADER_BYTES);
  const name = reader.value(reader.next);
  const message = reader.value(reader.next);
  const stack = reader.value(reader.next);
  const isText = typeof type === "string" && typeof message === "string" &&
    (name === undefined || typeof name === "string");
  if (!isText) throw reader.corrupt("error", at);
  // An error that contains itself must be created before its cause is read.
  const isReferenced = (word & REFERENCED) !== 0;
  const hasCause = (word & HAS_CAUSE) !== 0;
  const options = hasCause && !isReferenced ? { cause: reader.value(reader.next) } : undefined;
  const error = createBareError(reader.access, type, message) ??
    createError(type, name, message, options);
  const prototype = ownPrototype(type);
  if (prototype !== undefined) setPrototypeOf(error, prototype);
  if (isReferenced) reader.register(at, error);
  isStackAssignable ??= findStackAssignable();
  if (isStackAssignable && typeof stack === "string") error.stack = stack;
  else defineValue(error, "stack", stack, false);
  if (name !== undefined && error.name !== name) defineValue(error, "name", name, false);
  if (hasCause && (isReferenced || !hasOwn(error, "cause"))) {
    defineValue(error, "cause", isReferenced ? reader.value(reader.next) : options!.cause, false);
  }
  if ((word & HAS_ERRORS) !== 0) defineValue(error, "errors", reader.value(reader.next), false);
  if ((word & HAS_SUPPRESSED) !== 0) {
    const both = reader.value(reader.next);
    if (!Array.isArray(both)) throw reader.corrupt("error", at);
    defineValue(error, "error", both[0], false);
    defineValue(error, "suppressed", both[1], false);
  }
  for (let property = 0; property < properties; property++) {
    const key = reader.key(reader.next);
    defineValue(error, key, reader.value(reader.next), true);
  }
  return error;
}

function createBareError(access: CodecAccess, type: string, message: string): Error | undefined {
  const isBuiltIn = hasOwn(BUILT_IN, type);
  if (!isBuiltIn && ownPrototype(type) === undefined) return undefined;
  const error = access.errors.bare(isBuiltIn ? BUILT_IN[type]! : Error);
  if (error !== undefined) error.message = message;
  return error;
}

/** Creates the error without recording a stack (8 µs each on V8), since it gets the sender's. */
function createError(
  type: string,
  name: string | undefined,
  message: string,
  options?: ErrorOptions,
): Error {
  const settings = Error as { stackTraceLimit?: number | undefined };
  const limit = settings.stackTraceLimit;
  try {
    settings.stackTraceLimit = undefined; // not 0, for which V8 records an empty one, at 80 ns
  } catch {
    return construct(type, name, message, options); // frozen
  }
  try {
    return construct(type, name, message, options);
  } finally {
    settings.stackTraceLimit = limit!;
  }
}

function construct(
  type: string,
  name: string | undefined,
  message: string,
  options: ErrorOptions | undefined,
): Error {
  if (type === "AggregateError") return new AggregateError([], message, options);
  if (type === "SuppressedError" && SuppressedError !== undefined) {
    return new SuppressedError(undefined, undefined, message);
  }
  if (type === "DOMException") {
    return new DOMException(message, name ?? "Error") as unknown as Error;
  }
  const constructor = hasOwn(BUILT_IN, type) ? BUILT_IN[type]! : Error;
  return new constructor(message, options);
}

const TYPE_OF_PROTOTYPE: Map<object, string> = new Map();
for (const [type, { prototype }] of Object.entries({ ...BUILT_IN, AggregateError, DOMException })) {
  TYPE_OF_PROTOTYPE.set(prototype as object, type);
}
if (SuppressedError !== undefined) {
  TYPE_OF_PROTOTYPE.set(SuppressedError.prototype, "SuppressedError");
}
for (const [name, { prototype }] of Object.entries(errorClasses)) {
  TYPE_OF_PROTOTYPE.set(prototype, OWN_PREFIX + name);
}

/** Whether it is the prototype of a `DOMException`, the runtime's or that of a DOM environment. Not for proxies. */
export function isDOMExceptionPrototype(object: object): boolean {
  return object === DOMException.prototype ||
    ownValue(object, Symbol.toStringTag) === "DOMException";
}

/** Limit for prototype chains, which a proxy can make endless. */
const MAX_PROTOTYPES = 100;

function typeOf(error: Error): string {
  const type = tryTo(() => typeOfPrototypes(error), "Error");
  if (type !== undefined) return type;
  const name = read(error, "name"); // from another realm
  if (name === "AggregateError" || name === "SuppressedError") return name;
  return typeof name === "string" && hasOwn(BUILT_IN, name) ? name : "Error";
}

function typeOfPrototypes(error: Error): string | undefined {
  let parent: object | null = error;
  for (let level = 0; level < MAX_PROTOTYPES; level++) {
    parent = Object.getPrototypeOf(parent) as object | null;
    if (parent === null) return undefined;
    const type = TYPE_OF_PROTOTYPE.get(parent);
    if (type !== undefined) return type;
    if (isDOMExceptionPrototype(parent)) return "DOMException";
    const ownType = OWN_PREFIX + String(ownValue(parent, ERROR_CLASS)); // from another copy of heddle
    if (ownPrototype(ownType) !== undefined) return ownType;
  }
  return undefined;
}

function read(error: Error, key: string): unknown {
  return tryTo(() => (error as unknown as Record<string, unknown>)[key], undefined);
}

/** Returns the result of `ask`. The failure of a getter or a proxy must not replace the error being reported. */
function tryTo<Value>(ask: () => Value, otherwise: Value): Value {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}
