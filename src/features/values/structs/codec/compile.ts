/**
 * Generates the writer and the reader of a shape as source text: fields by literal names, stores at
 * constant offsets, an object literal for the result. Values that the text refers to are passed in by name.
 */
import { JSON, Set } from "../../../../builtins.ts";
import { evaluate, property } from "../../../../codec/support/code-generation.ts";
import { bytesOf } from "../../../../codec/support/intrinsics.ts";
import { defineValue } from "../../../../codec/support/own-property.ts";
import { propertyStep } from "../../../../codec/support/describe.ts";
import {
  checkEachKey,
  countElements,
  hasPlainPrototype,
  isInheritedKey,
  ownValue,
} from "../schema/checks.ts";
import type { Input } from "../schema/input.ts";
import { mismatch, within } from "./mismatch.ts";
import type { Output } from "../schema/output.ts";
import { HELPERS, type Scalar, SCALARS } from "./scalars.ts";
import { type ArrayShape, expectedOf, isScalar, type PlacedField } from "../schema/shape.ts";
import { PRESENCE_BITS, type ScalarShape, type StructShape } from "../schema/shape.ts";
import { boundedLength } from "./text.ts";

/** The writer and the reader of one shape. */
export interface Plan {
  /**
   * Writes `value` into the fixed part at `rel`, relative to the outermost struct, and the rest into
   * the tail. Throws a Mismatch if it does not fit. The memory may have moved afterwards.
   */
  readonly write: (out: Output, rel: number, value: unknown) => void;
  /** Reads the fixed part at `at`, which is known to lie in the record, and its data in the tail. */
  readonly read: (input: Input, at: number) => unknown;
}

const NAMES: Readonly<Record<string, unknown>> = {
  ...HELPERS,
  isArray: Array.isArray,
  mismatch,
  within,
  checkEachKey,
  hasPlainPrototype,
  ownValue,
  defineValue,
  countElements,
  boundedLength,
  bytesOf,
};

/** Declares the views that `source` uses, of the memory given by the expression `memory`. */
function declareViews(source: string, memory: string): string {
  const used = ["i32", "f64", "i64", "u8"].filter((view) => source.includes(`${view}[`));
  return used.length === 0 ? "" : `const { ${used.join(", ")} } = ${memory};\n`;
}

export function compileScalar({ kind }: ScalarShape): Plan {
  const { expected, source } = SCALARS[kind];
  const store = source.store("at", "value");
  const load = source.load("at");
  return evaluate(
    `return {
write(out, rel, value) {
if (${source.misfits("value")}) throw mismatch(expected, value);
${declareViews(store, "out.writer.memory")}const at = out.base + rel;
${store}
},
read(input, at) {
${declareViews(load, "input.memory")}return ${load};
} };`,
    { ...NAMES, expected },
  );
}

/** `plans`: of the fields, in writing order; those of scalars are not used. */
export function compileStruct(shape: StructShape, plans: readonly Plan[]): Plan {
  const names: Record<string, unknown> = {
    ...NAMES,
    known: new Set(shape.keys),
    expected: expectedOf(shape),
    misfit: (place: number, value: unknown) => {
      const { key, shape: of } = shape.fields[place]!;
      return within(mismatch(expectedOf(of), value), propertyStep(key));
    },
  };
  for (const [place, plan] of plans.entries()) {
    names[`write${place}`] = plan.write;
    names[`read${place}`] = plan.read;
  }
  return evaluate(
    `return {
write(out, rel, value) {
${structWriter(shape)}
},
read(input, at) {
${structReader(shape)}
} };`,
    names,
  );
}

function structWriter(shape: StructShape): string {
  const { keys, fields } = shape;
  // Without this check an array would be accepted as an object without keys.
  const orArray = fields.some(({ bit }) => bit < 0) ? "" : " || isArray(value)";
  const values = keys.map((key, index) => {
    const name = JSON.stringify(key);
    const value = isInheritedKey(key) ? `ownValue(value, ${name})` : `value[${name}]`;
    return `const v${index} = ${value};`;
  });
  const inline = presenceWriter(shape) +
    fields.map((field, place) => scalarWriter(field, place)).join("");
  const calls = fields.map((field, place) => callWriter(field, place)).join("");
  const given = fields.map(({ bit, index }) => bit < 0 ? "1" : `(v${index} === undefined ? 0 : 1)`);
  return `if (typeof value !== "object" || value === null${orArray}) throw mismatch(expected, value);
${values.join("\n")}
const given = ${given.join(" + ") || "0"};
if (!hasPlainPrototype(value) || out.writer.access.kinds.countKeys(value) !== given) {
checkEachKey(known, value);
}
const at = out.base + rel;
${declareViews(inline, "out.writer.memory")}${inline}${
    calls && `let step = "";\ntry {\n${calls}} catch (error) {\nthrow within(error, step);\n}`
  }`;
}

function presenceWriter({ fields, presenceAt, presenceWords }: StructShape): string {
  let source = "";
  for (let word = 0; word < presenceWords; word++) {
    const bits = fields.filter(({ bit }) => bit >= 0 && Math.trunc(bit / PRESENCE_BITS) === word)
      .map(({ bit, index }) => `(v${index} === undefined ? 0 : ${1 << bit % PRESENCE_BITS})`);
    source += `i32[(at + ${presenceAt + 4 * word}) >> 2] = ${bits.join(" | ")};\n`;
  }
  return source;
}

/** `statement` for a field, under its condition if it is optional. */
function ifPresent({ bit, index }: PlacedField, statement: string): string {
  return bit < 0 ? `${statement}\n` : `if (v${index} !== undefined) {\n${statement}\n}\n`;
}

function scalarWriter(field: PlacedField, place: number): string {
  const { shape, offset, index } = field;
  if (!isScalar(shape)) return "";
  const { source } = SCALARS[shape.kind];
  const check = `if (${source.misfits(`v${index}`)}) throw misfit(${place}, v${index});\n`;
  return ifPresent(field, check + source.store(`at + ${offset}`, `v${index}`));
}

function callWriter(field: PlacedField, place: number): string {
  const { key, shape, offset, index } = field;
  if (isScalar(shape)) return "";
  const step = `step = ${JSON.stringify(propertyStep(key))};\n`;
  return ifPresent(field, `${step}write${place}(out, rel + ${offset}, v${index});`);
}

function structReader({ fields, presenceAt }: StructShape): string {
  const isThere = (bit: number): string =>
    `(i32[(at + ${presenceAt + 4 * Math.trunc(bit / PRESENCE_BITS)}) >> 2] & ${
      1 << bit % PRESENCE_BITS
    }) !== 0`;
  const reads = fields.map(({ shape: of, offset, bit, index }, place) => {
    const load = isScalar(of)
      ? SCALARS[of.kind].source.load(`at + ${offset}`)
      : `read${place}(input, at + ${offset})`;
    return `const v${index} = ${bit < 0 ? load : `${isThere(bit)} ? ${load} : undefined`};\n`;
  }).join("");
  const inOrder = [...fields].sort((a, b) => a.index - b.index);
  const literal = inOrder.filter(({ bit }) => bit < 0)
    .map(({ key, index }) => property(key, `v${index}`)).join(", ");
  const optional = inOrder.filter(({ bit }) => bit >= 0).map(({ key, index }) => {
    const name = JSON.stringify(key);
    const set = isInheritedKey(key)
      ? `defineValue(result, ${name}, v${index});`
      : `result[${name}] = v${index};`;
    return `if (v${index} !== undefined) ${set}\n`;
  });
  return `${declareViews(reads, "input.memory")}${reads}const result = { ${literal} };
${optional.join("")}return result;`;
}

export function compileArray(shape: ArrayShape, element: Plan): Plan {
  const { of, max, elementsAt } = shape;
  const scalar = isScalar(of) ? SCALARS[of.kind] : undefined;
  const place = max === undefined
    ? `const start = out.reserve(count * ${of.size});\nout.point(rel, start, count);`
    : `const start = rel + ${elementsAt};\nout.writer.memory.i32[(out.base + rel) >> 2] = count;`;
  const open = max === undefined
    ? `let at = input.openArray(at0, ${of.size});\nconst count = input.count;`
    : `const count = boundedLength(input, at0, ${max});\nlet at = at0 + ${elementsAt};`;
  const load = scalar?.source.load("at") ?? "readElement(input, at)";
  return evaluate(
    `return {
write(out, rel, value) {
const count = countElements(shape, value, expected);
${place}
let index = 0;
${scalar === undefined ? "" : typedWriter(of.size)}try {
${elementsWriter(of.size, scalar)}
} catch (error) {
throw within(error, "[" + index + "]");
}
},
read(input, at0) {
${open}
${declareViews(load, "input.memory")}const values = new Array(count);
${of.kind === "f64" ? DOUBLES_READER : ""}for (let index = 0; index < count; index++) {
values[index] = ${load};
at += ${of.size};
}
return values;
} };`,
    {
      ...NAMES,
      shape,
      expected: expectedOf(shape),
      expectedElement: expectedOf(of),
      writeElement: element.write,
      readElement: element.read,
    },
  );
}

function typedWriter(stride: number): string {
  return `if (!isArray(value)) {
out.writer.memory.u8.set(bytesOf(value, count * ${stride}), out.base + start);
return;
}
`;
}

function elementsWriter(stride: number, scalar: Scalar | undefined): string {
  if (scalar === undefined) {
    return `for (; index < count; index++) writeElement(out, start + index * ${stride}, value[index]);`;
  }
  const store = scalar.source.store("at", "element");
  return `${declareViews(store, "out.writer.memory")}let at = out.base + start;
for (; index < count; index++) {
const element = value[index];
if (${scalar.source.misfits("element")}) throw mismatch(expectedElement, element);
${store}
at += ${stride};
}`;
}

/**
 * If the first number is not a small integer, the engine stores the array as doubles in any case. Then the
 * numbers are not normalized, which is twice as fast.
 */
const DOUBLES_READER = `const first = count > 0 ? f64[at >> 3] : 0;
if ((first | 0) !== first) {
for (let index = 0, from = at >> 3; index < count; index++) values[index] = f64[from + index];
return values;
}
`;
