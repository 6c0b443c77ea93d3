/**
 * Generates the reader and writer of a key list as source code. Numbers, booleans, null and short strings are
 * written and read inline, all other values by the encoder and the decoder. After each such call the writer
 * reloads its memory, which may have moved.
 */
import { JSON } from "../../builtins.ts";
import { evaluate, property } from "../support/code-generation.ts";
import type { ReadableKeyList } from "../reader.ts";
import { FALSE, INT, NULL, NUMBER, TEXT, TRUE } from "../tags.ts";
import { MAX_GATHERED_UNITS } from "../kinds/texts.ts";
import type { WritableKeyList } from "../writer.ts";

/** Maximum size of a value written inline. */
const SPOT_BYTES = 16;
/** Maximum number of keys for inline code: engines do not optimize larger functions. */
const MAX_SPOT_KEYS = 24;

const { getPrototypeOf, prototype } = Object;

/** The code that writes one property. `rest`: room for those that follow. */
function writeStatement(key: string, isLong: boolean, rest: number): string {
  const name = JSON.stringify(key);
  const call = `value === undefined ? writer.undefinedOrGone(object, ${name}, at)` +
    ` : writer.value(value, at)`;
  if (isLong) return `value = object[${name}];\nat = ${call};`;
  return `value = object[${name}];
    if (typeof value === "number") {
      integer = value | 0;
      if (integer === value && (integer !== 0 || 1 / value > 0)) {
        i32[at >> 2] = ${INT};
        i32[(at >> 2) + 1] = integer;
        at += 8;
      } else {
        i32[at >> 2] = ${NUMBER};
        f64[(at >> 3) + 1] = value;
        at += 16;
      }
    } else if (typeof value === "boolean") {
      i32[at >> 2] = value ? ${TRUE} : ${FALSE};
      at += 8;
    } else if (value === null) {
      i32[at >> 2] = ${NULL};
      at += 8;
    } else if (typeof value === "string" && value.length <= longest) {
      i32[at >> 2] = ${TEXT};
      i32[(at >> 2) + 1] = value.length;
      texts.add(value);
      at += 8;
    } else {
      at = ${call};
      if (at + ${rest} > writer.limit) at = writer.room(at, ${rest});
      i32 = writer.i32;
      f64 = writer.f64;
    }`;
}

function fitsSource(count: number, mark: symbol | undefined): string {
  const isMarked = mark === undefined ? "" : " || mark in object";
  return `fits(object) {
if (getPrototypeOf(object) !== prototype${isMarked}) return false;
let index = 0;
for (const key in object) {
if (index === ${count} || key !== keys[index]) return false;
index++;
}
return index === ${count};
}`;
}

/**
 * See `WritableKeyList`. The code of one key list usually sees objects of one hidden class only. Objects that have `mark` do not
 * fit.
 */
export function compileWriter(
  keys: readonly string[],
  mark: symbol | undefined,
): Pick<WritableKeyList, "write" | "fits"> {
  const isLong = keys.length > MAX_SPOT_KEYS;
  const statements = keys.map((key, index) =>
    writeStatement(key, isLong, (keys.length - index - 1) * SPOT_BYTES)
  );
  const bytes = keys.length * SPOT_BYTES;
  const room = isLong ? "" : `if (at + ${bytes} > writer.limit) at = writer.room(at, ${bytes});`;
  return evaluate(
    `return {
write(writer, object, at) {
${room}
let { i32, f64 } = writer;
const { texts } = writer;
const longest = texts.isOpen ? ${MAX_GATHERED_UNITS} : -1;
let value, integer;
${statements.join("\n")}
return at;
},
${fitsSource(keys.length, mark)} };`,
    { keys, getPrototypeOf, prototype, mark },
  );
}

export function compileReader(keys: readonly string[]): ReadableKeyList["read"] {
  const isLong = keys.length > MAX_SPOT_KEYS;
  const statements = keys.map((_, index) => {
    const read = `value${index} = reader.value(next);\nnext = reader.next;`;
    if (isLong) return `let ${read}`;
    return `let value${index};
      word = next + 8 <= limit ? i32[next >> 2] : 0;
      if (word === ${INT}) {
        value${index} = i32[(next >> 2) + 1];
        next += 8;
      } else if (word === ${TEXT}) {
        value${index} = reader.gathered(i32[(next >> 2) + 1], next);
        next += 8;
      } else if (word === ${TRUE} || word === ${FALSE}) {
        value${index} = word === ${TRUE};
        next += 8;
      } else {
        ${read}
      }`;
  });
  const properties = keys.map((key, index) => property(key, `value${index}`));
  return evaluate(`return function readObject(reader, at) {
const { i32, limit } = reader;
let next = at;
let word = 0;
${statements.join("\n")}
reader.next = next;
return { ${properties.join(", ")} };
};`);
}
