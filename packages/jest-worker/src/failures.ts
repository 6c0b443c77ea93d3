/** Errors of calls on their way from a worker: the host makes one of the same built-in class, with the properties of the original. */
import { lossyCopy } from "./lossy.ts";

/** What a worker throws in place of an error. */
export interface Failure {
  readonly failed: "call" | "setup";
  readonly type: string | undefined;
  readonly message: unknown;
  readonly stack: unknown;
  /** Own properties; what was thrown, if that is no object. */
  readonly extra: unknown;
}

export function packError(thrown: unknown, failed: Failure["failed"]): Failure {
  const error = thrown ?? new Error('"null" or "undefined" thrown');
  const { constructor, message, stack } = Object(error) as Partial<Error>;
  return {
    failed,
    type: constructor?.name,
    message: lossyCopy(message),
    stack: lossyCopy(stack),
    extra: lossyCopy(typeof error === "object" ? { ...error } : error) ?? {},
  };
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && "failed" in value;
}

export function unpackError({ failed, type, message, stack, extra }: Failure): unknown {
  if (failed === "setup") {
    return Object.assign(new Error(`Error when calling setup: ${message}`), { type, stack });
  }
  if (typeof extra !== "object" || extra === null) return extra;
  const error = createError(type, message);
  // Some built-in classes have properties without setters.
  for (const [key, value] of Object.entries({ type, stack, ...extra })) {
    Reflect.defineProperty(error, key, {
      value,
      writable: true,
      configurable: true,
      enumerable: key !== "stack",
    });
  }
  return error;
}

function createError(type: string | undefined, message: unknown): object {
  const Class = (globalThis as Readonly<Record<string, unknown>>)[String(type)];
  if (typeof Class === "function") {
    try {
      return new (Class as ErrorConstructor)(message as string);
    } catch {
      // It takes no message, or is no class.
    }
  }
  return new Error(String(message));
}
