/**
 * What `task({ input, output })` adds to a task: a function around the task's own that checks its argument and its result.
 * A task without schemas does not come here.
 */
import { Promise } from "../../../builtins.ts";
import { describeValue } from "../../../codec/support/describe.ts";
import { InvalidArgumentError, ValidationError, type ValidationIssue } from "../../../errors.ts";
import { isGeneratorFunction } from "../../../protocol/generator-functions.ts";
import { isThenable } from "../../../protocol/is-thenable.ts";
import { invalid } from "../../../option-checks.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

type TaskFunction = (...args: unknown[]) => unknown;
/** Returns what the schema makes of a value, or a promise of it. Throws ValidationError, or the promise rejects with it. */
export type Check = (value: unknown) => unknown;

/** The schemas of a task, and where its input is checked. */
export interface Validation {
  readonly input: StandardSchema | undefined;
  readonly output: StandardSchema | undefined;
  readonly validateOn: "worker" | "host";
}

/** Checks the options of a task that declares schemas. Throws InvalidArgumentError. */
export function checkValidation(
  { input, output, validateOn = "worker" }: Record<string, unknown>,
  hasShapes: boolean,
): Validation | undefined {
  if (validateOn !== "worker" && validateOn !== "host") {
    throw invalid("validateOn", '"worker" or "host"', describeValue(validateOn));
  }
  if (input === undefined && validateOn === "host") {
    throw new InvalidArgumentError("validateOn tells where `input` is checked, which is missing.");
  }
  if (input === undefined && output === undefined) return undefined;
  if (hasShapes) {
    throw new InvalidArgumentError(
      "A task declares shapes (`args`, `returns`) or schemas (`input`, `output`), not both.",
    );
  }
  return { input: checkSchema("input", input), output: checkSchema("output", output), validateOn };
}

function checkSchema(name: string, schema: unknown): StandardSchema | undefined {
  if (schema === undefined || isStandardSchema(schema)) return schema;
  const rule =
    "a Standard Schema (Zod, Valibot, ArkType …); a struct() is declared by args and returns";
  throw invalid(name, rule, describeValue(schema));
}

/** The check of the argument of a task, if the host does it. */
export function hostCheck(task: string, validation: Validation | undefined): Check | undefined {
  if (validation?.input === undefined || validation.validateOn !== "host") return undefined;
  return checkOf(task, "input", validation.input);
}

/** The function `f` of a task with its checks. `isChecked`: the host has checked the argument. */
export function validated(
  task: string,
  f: TaskFunction,
  { input, output }: Validation,
  isChecked: boolean,
): TaskFunction {
  const before = input === undefined || isChecked ? undefined : checkOf(task, "input", input);
  const after = output === undefined ? undefined : checkOf(task, "output", output);
  const around = isGeneratorFunction(f)
    ? itemsOf(f, before, after)
    : (...args: unknown[]): unknown => then(callWith(f, args, before), after);
  // Missing arguments are filled up to the signal by this length.
  return Object.defineProperty(around, "length", { value: f.length });
}

function callWith(f: TaskFunction, args: unknown[], before: Check | undefined): unknown {
  return before === undefined
    ? f(...args)
    : then(before(args[0]), (value) => f(value, ...args.slice(1)));
}

/** The schema of a generator's output is that of its items. */
function itemsOf(
  f: TaskFunction,
  before: Check | undefined,
  after: Check | undefined,
): TaskFunction {
  return async function* (...args) {
    const items = await callWith(f, args, before) as AsyncGenerator;
    if (after === undefined) return yield* items;
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await items.next();
        isDone = done === true;
        if (isDone) return value;
        yield await after(value);
      }
    } finally {
      if (!isDone) await items.return(undefined);
    }
  };
}

/** `next` of a value, or of what a promise resolves to. */
function then(value: unknown, next: Check | undefined): unknown {
  if (next === undefined) return value;
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

function checkOf(task: string, part: "input" | "output", schema: StandardSchema): Check {
  const { "~standard": standard } = schema;
  return (value) =>
    then(standard.validate(value), (result) => {
      const { issues, value } = result as { issues?: readonly StandardIssue[]; value?: unknown };
      if (issues === undefined) return value;
      throw new ValidationError(task, part, issues.map(plainIssue));
    });
}

/** Validators add to their issues what cannot be sent, such as functions and the invalid value. */
function plainIssue({ message, path }: StandardIssue): ValidationIssue {
  const keys = Array.from(path ?? [], (step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "symbol" ? String(key) : key;
  });
  return { message: String(message), path: keys };
}
