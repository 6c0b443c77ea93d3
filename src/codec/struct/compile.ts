/**
 * Makes the writer and the reader of a shape as source text: fields by literal names, stores at
 * constant offsets, an object literal for the result. Same steps in the same order as `interpret.ts`.
 *
 * Of what a schema's author chose, keys alone enter the text, through `JSON.stringify`; all else is
 * numbers and names from this folder. What the text refers to is passed in by name.
 */
import { mismatch, within } from "./mismatch.ts";
import { propertyStep } from "../path.ts";
import { defineValue } from "../own-property.ts";
import type { Plan } from "./plan.ts";
import { HELPERS, SCALARS, storeTypedArray } from "./scalars.ts";
import type { ArrayShape, PlacedField, StructShape } from "./shape.ts";
import { expectedOf, isScalar, PRESENCE_BITS } from "./shape.ts";
import { boundedLength } from "./text.ts";
import {
  checkEachKey,
  countElements,
  hasPlainPrototype,
  isInheritedKey,
  ownValue,
} from "./values.ts";

const VIEWS = ["i32", "f64", "i64", "u8"] as const;

/** Declares those views that `source` uses, of the memory that the expression `memory` gives. */
function declareViews(source: string, memory: string): string {
  const used = VIEWS.filter((view) => source.includes(`${view}[`));
  return used.length === 0 ? "" : `const { ${used.join(", ")} } = ${memory};\n`;
}

/**
 * Evaluates a function body with `names` in scope, as constants, which the engine may then fold into
 * the code. Throws EvalError where that is forbidden.
 */
function evaluate(names: Readonly<Record<string, unknown>>, body: string): Plan {
  const scope = `const { ${Object.keys(names).join(", ")} } = names;`;
  return new Function("names", `"use strict";\n${scope}\n${body}`)(names) as Plan;
}

/** A property of an object literal; computed, `__proto__` is a key like any other. */
function property(key: string, value: string): string {
  return `${key === "__proto__" ? `["__proto__"]` : JSON.stringify(key)}: ${value}`;
}

/** `plans`: of the fields, in writing order; those of scalars are not used. */
export function compileStruct(shape: StructShape, plans: readonly Plan[]): Plan {
  const names: Record<string, unknown> = {
    ...HELPERS,
    known: new Set(shape.keys),
    expected: expectedOf(shape),
    isArray: Array.isArray,
    mismatch,
    within,
    checkEachKey,
    hasPlainPrototype,
    misfit: (place: number, value: unknown) => {
      const { key, shape: of } = shape.fields[place]!;
      return within(mismatch(expectedOf(of), value), propertyStep(key));
    },
    ownValue,
    defineValue,
  };
  shape.fields.forEach((field, place) => {
    names[`step${place}`] = propertyStep(field.key);
    if (!isScalar(field.shape)) {
      names[`write${place}`] = plans[place]!.write;
      names[`read${place}`] = plans[place]!.read;
    }
  });
  return evaluate(
    names,
    `return {
write(out, rel, value) {
${structWriter(shape)}
},
read(input, at) {
${structReader(shape)}
} };`,
  );
}

function structWriter(shape: StructShape): string {
  const { keys, fields } = shape;
  // An array would pass for an object without keys.
  const orArray = fields.some(({ bit }) => bit < 0) ? "" : " || isArray(value)";
  const values = keys.map((key, index) => {
    const name = JSON.stringify(key);
    return `const v${index} = ${
      isInheritedKey(key) ? `ownValue(value, ${name})` : `value[${name}]`
    };`;
  });
  const inline = presenceWriter(shape) + fields
    .map((field, place) => isScalar(field.shape) ? scalarWriter(field, place) : "").join("");
  const calls = fields.map((field, place) => isScalar(field.shape) ? "" : callWriter(field, place))
    .join("");
  const required = fields.filter(({ bit }) => bit < 0).length;
  const given = [
    required,
    ...fields.filter(({ bit }) => bit >= 0).map(({ index }) => `(v${index} === undefined ? 0 : 1)`),
  ].join(" + ");
  return `if (typeof value !== "object" || value === null${orArray}) throw mismatch(expected, value);
${values.join("\n")}
if (!hasPlainPrototype(value) || out.writer.access.kinds.countKeys(value) !== ${given}) {
checkEachKey(known, value);
}
const at = out.base + rel;
${declareViews(inline, "out.writer.memory")}${inline}${
    calls === ""
      ? ""
      : `let step = "";\ntry {\n${calls}} catch (error) {\nthrow within(error, step);\n}`
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
  const { source } = SCALARS[field.shape.kind as keyof typeof SCALARS];
  const v = `v${field.index}`;
  return ifPresent(
    field,
    `if (${source.misfits(v)}) throw misfit(${place}, ${v});\n` +
      source.store(`at + ${field.offset}`, v),
  );
}

function callWriter(field: PlacedField, place: number): string {
  return ifPresent(
    field,
    `step = step${place};\nwrite${place}(out, rel + ${field.offset}, v${field.index});`,
  );
}

function structReader(shape: StructShape): string {
  const { fields, presenceAt } = shape;
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
  }).join("");
  const result = optional === ""
    ? `return { ${literal} };`
    : `const result = { ${literal} };\n${optional}return result;`;
  return `${declareViews(reads, "input.memory")}${reads}${result}`;
}

/**
 * An array of numbers that are no small integers, to judge by the first, is one of doubles in any case:
 * then each is taken as it is, which is twice as quick.
 */
const DOUBLES_READER = `const first = count > 0 ? f64[at >> 3] : 0;
if ((first | 0) !== first) {
  for (let index = 0, from = at >> 3; index < count; index++) values[index] = f64[from + index];
  return values;
}
`;

export function compileArray(shape: ArrayShape, element: Plan): Plan {
  const { of, max, elementsAt } = shape;
  const stride = of.size;
  const scalar = isScalar(of) ? SCALARS[of.kind] : undefined;
  const names = {
    ...HELPERS,
    shape,
    expected: expectedOf(shape),
    expectedElement: expectedOf(of),
    writeElement: element.write,
    readElement: element.read,
    kind: of.kind,
    isArray: Array.isArray,
    mismatch,
    within,
    countElements,
    boundedLength,
    storeTypedArray,
  };
  const store = scalar?.source.store("at", "element") ?? "";
  const load = scalar?.source.load("at") ?? "readElement(input, at)";
  const place = max === undefined
    ? `const start = out.reserve(count * ${stride});\nout.point(rel, start, count);`
    : `const start = rel + ${elementsAt};\nout.writer.memory.i32[(out.base + rel) >> 2] = count;`;
  const elements = scalar === undefined
    ? `for (; index < count; index++) writeElement(out, start + index * ${stride}, value[index]);`
    : `${declareViews(store, "out.writer.memory")}let at = out.base + start;
for (; index < count; index++) {
  const element = value[index];
  if (${scalar.source.misfits("element")}) throw mismatch(expectedElement, element);
  ${store}
  at += ${stride};
}`;
  const typed = scalar === undefined ? "" : `if (!isArray(value)) {
  storeTypedArray(kind, out.writer.memory, out.base + start, value, count);
  return;
}`;
  const open = max === undefined
    ? `let at = input.openArray(at0, ${stride});\nconst count = input.count;`
    : `const count = boundedLength(input, at0, ${max});\nlet at = at0 + ${elementsAt};`;
  return evaluate(
    names,
    `return {
write(out, rel, value) {
const count = countElements(shape, value, expected);
${place}
${typed}
let index = 0;
try {
${elements}
} catch (error) {
throw within(error, "[" + index + "]");
}
},
read(input, at0) {
${open}
${scalar === undefined ? "" : declareViews(load, "input.memory")}const values = new Array(count);
${of.kind === "f64" ? DOUBLES_READER : ""}for (let index = 0; index < count; index++) {
values[index] = ${load};
at += ${stride};
}
return values;
} };`,
  );
}
