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
  decodeURI,
  DOMException,
  Error,
  EvalError,
  Map,
  RangeError,
  ReferenceError,
  SuppressedError,
  SyntaxError,
  TypeError,
  URIError,
} from "../../builtins.ts";
import { errorClasses, PayloadTooLargeError } from "../../errors.ts";
import { errorsOfEntries } from "../../heddle-error.ts";
import type { Decoder } from "../decoder.ts";
import type { Encoder } from "../encoder.ts";
import { defineValue, ownValue } from "../support/own-property.ts";
import { isStackOverflow } from "../support/stack-overflow.ts";
import { ARRAY, ERROR, HIDDEN_SHIFT, UNDEFINED, VALUE_HEADER_BYTES } from "../tags.ts";

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
/** Limit for prototype chains, which a proxy can make endless. */
const MAX_PROTOTYPES = 100;

const { hasOwn, setPrototypeOf } = Object;

/** Properties that are not enumerable, of every error and of some classes. */
const CAUSE: readonly string[] = ["cause"];
const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  AggregateError: ["cause", "errors"],
  SuppressedError: ["cause", "error", "suppressed"],
};

/** Whether `value` is an error of any realm, or a DOMException. */
export function isError(value: unknown): value is Error {
  if (typeof value !== "object" || value === null) return false;
  return tryTo(
    () =>
      value instanceof Error || value instanceof DOMException ||
      Object.prototype.toString.call(value) === "[object Error]",
    false,
  );
}

/** Text for any value, errors by their message. Never throws. */
export function textOf(value: unknown): string {
  return tryTo(
    () => isError(value) ? String(value.message) : String(value),
    "a value that cannot be shown",
  );
}

/** Writes an error as a top-level value, whatever its internal slots are. */
export function writeThrown(encoder: Encoder, error: Error, from: number): number {
  const { seen } = encoder;
  seen.visit(error, from);
  seen.current = seen.count - 1;
  encoder.depth++;
  return writeError(encoder, error, from);
}

/** Writes an error that was not written before. Runs its getters and ignores their errors. */
export function writeError(encoder: Encoder, error: Error, from: number): number {
  const type = typeOf(error);
  const name = read(error, "name");
  const message = read(error, "message");
  const stack = read(error, "stack");
  const isNamed = typeof name === "string";
  let at = encoder.header(ERROR, 0, from);
  at = encoder.value(type, at);
  at = encoder.value(isNamed && name !== type ? name : undefined, at);
  at = encoder.value(typeof message === "string" ? message : "", at);
  const { hiddenFolder } = encoder.options;
  const shown = typeof stack !== "string" || hiddenFolder === undefined
    ? stack
    : withoutFrames(stack, hiddenFolder);
  at = encoder.value(typeof shown === "string" ? shown : undefined, at);
  const hidden = HIDDEN[type] ?? CAUSE;
  const fields = [...hidden, "message", "stack", ...(isNamed ? ["name"] : [])];
  const others = tryTo(() => Object.keys(error), []).filter((key) => !fields.includes(key));
  let [hiddenCount, count] = [0, 0];
  for (const key of [...hidden, ...others]) {
    if (key === "cause" && !tryTo(() => hasOwn(error, key), false)) continue;
    const mark = encoder.mark();
    const value = key === "name" ? name : read(error, key);
    const start = encoder.value(key, at);
    const end = key === "errors" && hidden.includes(key)
      ? writeErrors(encoder, value, start)
      : writeIfCloneable(encoder, value, start);
    if (end === NOT_CLONED) encoder.rewind(mark); // the key as well
    else {
      if (hidden.includes(key)) hiddenCount++;
      count++;
      at = end;
    }
  }
  const word = from >> 2;
  encoder.i32[word]! |= hiddenCount << HIDDEN_SHIFT;
  encoder.i32[word + 1] = count;
  return at;
}

/** V8's frames begin with "at"; JavaScriptCore's may have a name and "@". */
const FRAME = /^\n\s*at |@/;
/** A frame of a module of the runtime. */
const OF_RUNTIME = /[\s(@](?:node|ext|internal|native)[:)]/;

/** A stack without its last frames, if these are of files in `folder`, and of the runtime that has called them. */
function withoutFrames(stack: string, folder: string): string {
  const decoded = folder.includes("%") ? decodeURI(folder) : folder;
  let cut = stack.length;
  for (let end = cut;;) {
    const start = stack.lastIndexOf("\n", end - 1);
    const line = stack.slice(start, end);
    if (start < 0 || !FRAME.test(line)) return stack; // it has no others
    if (line.includes(folder) || line.includes(decoded)) cut = start;
    else if (!OF_RUNTIME.test(line)) return stack.slice(0, cut);
    end = start;
  }
}

function writeErrors(encoder: Encoder, errors: unknown, from: number): number {
  const list = tryTo(() => Array.isArray(errors) ? [...errors as unknown[]] : [], []);
  let at = encoder.header(ARRAY, list.length, from);
  for (const error of list) {
    const end = writeIfCloneable(encoder, error, at);
    at = end === NOT_CLONED ? encoder.tag(UNDEFINED, at) : end;
  }
  return at;
}

const NOT_CLONED = -1;

/** Writes `value` if it can be cloned. Returns its end, or NOT_CLONED. */
function writeIfCloneable(encoder: Encoder, value: unknown, at: number): number {
  const mark = encoder.mark();
  if (mark.depth > MAX_ERROR_DEPTH) return NOT_CLONED;
  const { mayMove } = encoder;
  encoder.mayMove = false;
  try {
    return encoder.value(value, at);
  } catch (error) {
    // A stack overflow may have interrupted any step, so the whole encoding fails.
    if (error instanceof PayloadTooLargeError || isStackOverflow(error)) throw error;
    encoder.rewind(mark);
    return NOT_CLONED;
  } finally {
    encoder.mayMove = mayMove;
  }
}

/** Reads ERROR at `at`, whose first word is `word`. */
export function readError(decoder: Decoder, at: number, word: number): Error {
  const count = decoder.count(at, 2 * VALUE_HEADER_BYTES);
  const type = decoder.key(at + VALUE_HEADER_BYTES);
  const name = decoder.value(decoder.next);
  const message = decoder.key(decoder.next);
  const stack = decoder.value(decoder.next);
  if (name !== undefined && typeof name !== "string") throw decoder.corrupt("error", at);
  // An error may contain itself, so it is created before its properties are read.
  const error = createError(decoder, type, name, message);
  const prototype = ownPrototype(type);
  if (prototype !== undefined) setPrototypeOf(error, prototype);
  decoder.noted(at, word, error);
  defineValue(error, "stack", stack, false);
  if (name !== undefined && error.name !== name) defineValue(error, "name", name, false);
  const hidden = (word >>> HIDDEN_SHIFT) & 7;
  for (let property = 0; property < count; property++) {
    const key = decoder.key(decoder.next);
    defineValue(error, key, decoder.value(decoder.next), property >= hidden);
  }
  return error;
}

/** Creates the error without recording a stack (8 µs each on V8), since it gets the sender's. */
function createError(
  { access }: Decoder,
  type: string,
  name: string | undefined,
  message: string,
): Error {
  const isBuiltIn = hasOwn(BUILT_IN, type);
  const bare = isBuiltIn || ownPrototype(type) !== undefined
    ? access.errors.bare(isBuiltIn ? BUILT_IN[type]! : Error)
    : undefined;
  if (bare !== undefined) {
    bare.message = message;
    return bare;
  }
  const settings = Error as { stackTraceLimit?: number | undefined };
  const limit = settings.stackTraceLimit;
  // Not 0, for which V8 records an empty one, at 80 ns. It may be frozen.
  const set = (value: number | undefined) => tryTo(() => settings.stackTraceLimit = value, 0);
  set(undefined);
  try {
    if (type === "AggregateError") return new AggregateError([], message);
    if (type === "SuppressedError" && SuppressedError !== undefined) {
      return new SuppressedError(undefined, undefined, message);
    }
    if (type === "DOMException") {
      return new DOMException(message, name ?? "Error") as unknown as Error;
    }
    return new (isBuiltIn ? BUILT_IN[type]! : Error)(message);
  } finally {
    set(limit);
  }
}

const TYPE_OF_PROTOTYPE: Map<object, string> = new Map();
const NAMED = { ...BUILT_IN, AggregateError, DOMException, SuppressedError };
for (const [type, named] of Object.entries(NAMED)) {
  if (named !== undefined) TYPE_OF_PROTOTYPE.set(named.prototype as object, type);
}
for (const [name, { prototype }] of Object.entries(errorClasses)) {
  TYPE_OF_PROTOTYPE.set(prototype, OWN_PREFIX + name);
}

/** Whether it is the prototype of a `DOMException`, the runtime's or that of a DOM environment. Not for proxies. */
export function isDOMExceptionPrototype(object: object): boolean {
  return object === DOMException.prototype ||
    ownValue(object, Symbol.toStringTag) === "DOMException";
}

function typeOf(error: Error): string {
  const type = tryTo(() => typeOfPrototypes(error), "Error");
  if (type !== undefined) return type;
  const name = read(error, "name"); // from another realm
  return typeof name === "string" && (hasOwn(BUILT_IN, name) || hasOwn(HIDDEN, name))
    ? name
    : "Error";
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
