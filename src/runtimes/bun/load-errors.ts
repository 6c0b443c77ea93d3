/** Bun: what it rejects an import with is a message of its bundler, without a stack. */
import { Error, SyntaxError } from "../../builtins.ts";
import type { LoadError } from "../runtime.ts";

/** A message of Bun's bundler or resolver. */
interface Message {
  readonly name: "BuildMessage" | "ResolveMessage";
  readonly message: string;
  readonly code?: string;
  readonly position: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  } | null;
}

export function explainLoadError(reason: unknown): LoadError {
  const message = firstMessage(reason);
  if (message === undefined) return { error: reason, place: undefined };
  const { position, code } = message;
  const place = position === null
    ? undefined
    : `${position.file}:${position.line}:${position.column}`;
  const error = message.name === "BuildMessage"
    ? new SyntaxError(message.message)
    : new Error(message.message);
  if (code !== undefined) Object.assign(error, { code });
  error.stack = place === undefined ? String(error) : `${error}\n    at ${place}`;
  return { error, place };
}

/** Bun rejects with a message, or an AggregateError of several. */
function firstMessage(reason: unknown): Message | undefined {
  const { name, errors } = Object(reason) as { readonly name?: string; readonly errors?: unknown };
  if (name === "BuildMessage" || name === "ResolveMessage") return reason as Message;
  return Array.isArray(errors) ? firstMessage(errors[0]) : undefined;
}
