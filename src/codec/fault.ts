/**
 * Errors travel as fields, never as Error objects: structured clone turns a subclass and
 * AggregateError into plain Error, loses `.errors` and own properties, and on Bun loses `cause`.
 *
 * `describeError` flattens an error and every error it refers to (cause, AggregateError.errors, own
 * properties) into a table of plain fields that refer to each other by index, so cycles and long
 * chains of causes need no recursion. `rebuildError` makes real errors of the nearest built-in class
 * from it. Own properties that cannot be cloned are left out.
 */

/** A value within an error: another error of the table, or anything cloneable. */
type Part = { readonly error: number } | { readonly value: unknown };

/** One error, ready to be cloned. */
export interface ErrorFields {
  /** Nearest built-in class. */
  readonly type: string;
  /** `name`, where it differs from that of the class. */
  readonly name: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause?: Part;
  readonly errors?: readonly Part[];
  readonly properties?: readonly (readonly [string, Part])[];
}

/** Errors by index; the first is the one that was thrown. */
export type ErrorTable = readonly ErrorFields[];

/** Causes and own properties beyond this many errors are left out. */
const MAX_ERRORS = 1000;

const BUILT_IN: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  Error,
};

const OWN_FIELDS: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

/** Whether `value` is an error of this or of another realm, a DOMException included. */
export function isError(value: unknown): value is Error {
  if (typeof value !== "object" || value === null) return false;
  try {
    return value instanceof Error || value instanceof DOMException ||
      Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    return false; // a proxy that refuses even to be looked at
  }
}

/** Text for any value, errors by their message. Never throws. */
export function textOf(value: unknown): string {
  try {
    return isError(value) ? String(value.message) : String(value);
  } catch {
    return "a value that cannot be shown";
  }
}

/** The table of `error` and what it refers to. Never throws, whatever its getters do. */
export function describeError(error: Error): ErrorTable {
  const seen = new Map<Error, number>([[error, 0]]);
  const queue: Error[] = [error];
  const table: ErrorFields[] = [];
  const part = (value: unknown): Part | undefined => {
    if (!isError(value)) {
      try {
        return { value: structuredClone(value) };
      } catch {
        return undefined; // cannot cross; documented above
      }
    }
    const known = seen.get(value);
    if (known !== undefined) return { error: known };
    if (queue.length >= MAX_ERRORS) return undefined;
    seen.set(value, queue.length);
    queue.push(value);
    return { error: queue.length - 1 };
  };
  for (let index = 0; index < queue.length; index++) table.push(describeOne(queue[index]!, part));
  return table;
}

function describeOne(error: Error, part: (value: unknown) => Part | undefined): ErrorFields {
  const type = typeOf(error);
  const name = read(error, "name");
  const stack = read(error, "stack");
  const message = read(error, "message");
  const fields: {
    -readonly [Key in keyof ErrorFields]: ErrorFields[Key];
  } = {
    type,
    name: typeof name === "string" && name !== type ? name : undefined,
    message: typeof message === "string" ? message : "",
    stack: typeof stack === "string" ? stack : undefined,
  };
  if (hasOwn(error, "cause")) {
    const cause = part(read(error, "cause"));
    if (cause !== undefined) fields.cause = cause;
  }
  if (type === "AggregateError") {
    fields.errors = elementsOf(read(error, "errors")).map((each) =>
      part(each) ?? { value: undefined }
    );
  }
  const properties: [string, Part][] = [];
  for (const key of ownKeys(error)) {
    if (OWN_FIELDS.has(key)) continue;
    const value = part(read(error, key));
    if (value !== undefined) properties.push([key, value]);
  }
  if (properties.length > 0) fields.properties = properties;
  return fields;
}

/** Real errors from the table; returns the first. Throws for a table that none can have sent. */
export function rebuildError(table: ErrorTable): Error {
  const errors = table.map(createError);
  const value = (part: Part): unknown => "error" in part ? errors[part.error] : part.value;
  for (const [index, fields] of table.entries()) {
    const error = errors[index]!;
    define(error, "stack", fields.stack, false);
    if (fields.name !== undefined && error.name !== fields.name) {
      define(error, "name", fields.name, false);
    }
    if (fields.cause !== undefined) define(error, "cause", value(fields.cause), false);
    if (fields.errors !== undefined) define(error, "errors", fields.errors.map(value), false);
    for (const [key, part] of fields.properties ?? []) define(error, key, value(part), true);
  }
  return errors[0]!;
}

function createError(fields: ErrorFields): Error {
  if (fields.type === "AggregateError") return new AggregateError([], fields.message);
  if (fields.type === "DOMException") {
    return new DOMException(fields.message, fields.name ?? "Error") as unknown as Error;
  }
  const constructor = Object.hasOwn(BUILT_IN, fields.type) ? BUILT_IN[fields.type]! : Error;
  return new constructor(fields.message);
}

function typeOf(error: Error): string {
  try {
    if (error instanceof AggregateError) return "AggregateError";
    if (error instanceof DOMException) return "DOMException";
    for (const type of Object.keys(BUILT_IN)) if (error instanceof BUILT_IN[type]!) return type;
  } catch {
    return "Error"; // as above
  }
  const name = read(error, "name"); // another realm's
  return typeof name === "string" && Object.hasOwn(BUILT_IN, name) ? name : "Error";
}

function read(error: Error, key: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[key];
  } catch {
    return undefined; // a getter's own failure must not replace the error being reported
  }
}

function hasOwn(error: Error, key: string): boolean {
  try {
    return Object.hasOwn(error, key);
  } catch {
    return false; // a proxy's own failure, as above
  }
}

function elementsOf(value: unknown): unknown[] {
  try {
    return Array.isArray(value) ? [...value] : [];
  } catch {
    return []; // as above
  }
}

function ownKeys(error: Error): string[] {
  try {
    return Object.keys(error);
  } catch {
    return []; // a proxy's own failure, as above
  }
}

function define(error: Error, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
}
