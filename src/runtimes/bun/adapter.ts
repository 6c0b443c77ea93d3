/** Bun: `queueMicrotask` is the cheaper microtask, and `slice` copies out without zeroing first. */
import { queueMicrotask, structuredClone } from "../../builtins.ts";
import { inspectFrom } from "../node-api/values/array-keys.ts";
import {
  ASCII,
  LATIN1,
  NOT_ONE_BYTE,
  type Runtime,
  type SharedBytes,
  type Written,
} from "../runtime.ts";
import { ABOVE_ONE_BYTE, latin1Slice, latin1Write, textAccess } from "../node-api/values/values.ts";
import { createRuntime, exists, webPlatform } from "../node-api/common.ts";
import { threads } from "../node-api/threads/threads.ts";

/** Length in units above which writing a text as ASCII is faster than a search by pattern. */
const SEARCHED_UNITS = 64;

/** Range of lengths in which ASCII decodes as UTF-8 in half the time of decoding one byte per unit. */
const DECODED_UNITS = { least: 2048, most: 512 * 1024 } as const;

const { keys: keysOf } = Object;

declare const Bun: { file(url: URL): { readonly size: number } };

export function createBunRuntime(): Runtime {
  return createRuntime({
    ...webPlatform(),
    losesAsyncWakes: true,
    // Without `node:fs`, which takes 2 ms to load (1.4), unless the file is empty.
    exists: (url) => (url.protocol === "file:" && Bun.file(url).size > 0) || exists(url),
    microtask: queueMicrotask,
    text: {
      joinedTexts: Infinity,
      loopUnits: 8,
      writeUnits: writeUnitsByFours,
      writeOneByte,
      readAscii: (source, start, end) => {
        const length = end - start;
        return length >= DECODED_UNITS.least && length <= DECODED_UNITS.most
          ? textAccess.readUtf8(source, start, end)
          : latin1Slice.call(source, start, end);
      },
    },
    bytes: {
      isUntransferable: (buffer) => threads().isMarkedAsUntransferable(buffer),
      // `slice` uses the species constructor, so the copy of a shared view is an unshared array.
      copyOut: (source, start, end) =>
        source.slice(start, end) as Uint8Array as Uint8Array<ArrayBuffer>,
    },
    kinds: {
      clonesLive: true,
      isOrdinary: (value) => {
        // `structuredClone` refuses Math, JSON and prototypes, which have no slot to distinguish them from `{}`.
        // Takes 0.1 µs.
        try {
          return Object.getPrototypeOf(structuredClone(value)) === Object.prototype;
        } catch {
          return false;
        }
      },
      countIndices: inspectFrom(32, { clonesLive: true }),
      // JavaScriptCore caches the list with the structure: 2 ns, while a loop over eight keys takes 12.
      countKeys: (object) => keysOf(object).length,
    },
  });
}

function writeOneByte(text: string, target: SharedBytes, start: number): Written {
  const { length } = text;
  if (length <= SEARCHED_UNITS) {
    if (ABOVE_ONE_BYTE.test(text)) return NOT_ONE_BYTE;
    latin1Write.call(target, text, start, length);
    return LATIN1;
  }
  const samples = text.charCodeAt(0) | text.charCodeAt(length >> 1);
  if (samples > 0xff) return NOT_ONE_BYTE;
  // A unit above 0x7f takes two bytes, so only ASCII is read to its end within this room.
  if (samples < 0x80) {
    const { read } = textAccess.encodeInto(text, target, start, start + length);
    if (read === length) return ASCII;
  }
  // Units above 0xff are cut, so the comparison finds them.
  latin1Write.call(target, text, start, length);
  return latin1Slice.call(target, start, start + length) === text ? LATIN1 : NOT_ONE_BYTE;
}

/** Takes two thirds of the time of a loop over single units; on V8 it gains nothing. */
function writeUnitsByFours(text: string, target: Uint8Array, start: number): number {
  const { length } = text;
  let seen = 0;
  let unit = 0;
  let at = start;
  for (const fours = length - 3; unit < fours; unit += 4, at += 4) {
    const first = text.charCodeAt(unit);
    const second = text.charCodeAt(unit + 1);
    const third = text.charCodeAt(unit + 2);
    const fourth = text.charCodeAt(unit + 3);
    seen |= first | second | third | fourth;
    target[at] = first;
    target[at + 1] = second;
    target[at + 2] = third;
    target[at + 3] = fourth;
  }
  for (; unit < length; unit++, at++) {
    const code = text.charCodeAt(unit);
    seen |= code;
    target[at] = code;
  }
  return seen;
}
