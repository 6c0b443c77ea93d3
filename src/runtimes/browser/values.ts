/** Strings and bytes in memory that threads share, or in a copy of it, in a browser. */
import { TextDecoder, TextEncoder } from "../../builtins.ts";
import {
  ASCII,
  type ByteAccess,
  LATIN1,
  NOT_ONE_BYTE,
  type SharedBytes,
  type TextAccess,
} from "../runtime.ts";
import { writeUnits } from "../text-units.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const { fromCharCode } = String;

/** Units given to one call of `fromCharCode`: stacks hold more. */
const CHUNK = 4096;
/** From this length on the browser's own encoder is faster than a loop. */
const ENCODED_UNITS = 32;
const DECODED_BYTES = 64;

/** Whether the browser's encoder and decoder take shared memory: the standard says so, not all browsers do. */
const takesShared = ((): boolean => {
  try {
    const probe = new Uint8Array(new SharedArrayBuffer(1));
    encoder.encodeInto("a", probe);
    return decoder.decode(probe) === "a";
  } catch {
    return false;
  }
})();

function textOfUnits(
  units: ArrayLike<number> & { subarray(from: number, to: number): unknown },
): string {
  const { length } = units;
  if (length <= CHUNK) return fromCharCode.apply(null, units as unknown as number[]);
  let text = "";
  for (let from = 0; from < length; from += CHUNK) {
    const part = units.subarray(from, Math.min(from + CHUNK, length));
    text += fromCharCode.apply(null, part as number[]);
  }
  return text;
}

function encodeInto(
  text: string,
  target: SharedBytes,
  start: number,
  end: number,
): { read: number; written: number } {
  if (takesShared) return encoder.encodeInto(text, target.subarray(start, end));
  const bytes = new Uint8Array(Math.min(end - start, 3 * text.length));
  const encoded = encoder.encodeInto(text, bytes);
  target.set(bytes.subarray(0, encoded.written), start);
  return encoded;
}

function readUtf8(source: SharedBytes, start: number, end: number): string {
  return decoder.decode(takesShared ? source.subarray(start, end) : source.slice(start, end));
}

const readOneByte = (source: SharedBytes, start: number, end: number): string =>
  textOfUnits(source.subarray(start, end));

export const textAccess: TextAccess = {
  joinedTexts: Infinity,
  loopUnits: 24,
  writeUnits,
  writeOneByte: (text, target, start) => {
    const { length } = text;
    if (length >= ENCODED_UNITS && text.charCodeAt(0) < 0x80) {
      // A unit above 0x7f takes two bytes, so only ASCII is read to its end within this room.
      if (encodeInto(text, target, start, start + length).read === length) return ASCII;
    }
    const seen = writeUnits(text, target, start);
    return seen > 0xff ? NOT_ONE_BYTE : seen > 0x7f ? LATIN1 : ASCII;
  },
  writeTwoByte: (text, _bytes, units, start) => {
    const first = start >> 1;
    for (let unit = 0; unit < text.length; unit++) units[first + unit] = text.charCodeAt(unit);
  },
  readOneByte,
  readAscii: (source, start, end) =>
    end - start >= DECODED_BYTES ? readUtf8(source, start, end) : readOneByte(source, start, end),
  readTwoByte: (source, start, end) =>
    textOfUnits(new Uint16Array(source.slice(start, end).buffer)),
  encodeInto,
  readUtf8,
};

export const byteAccess: ByteAccess = {
  copyOut: (source, start, end) => new Uint8Array(source.subarray(start, end)),
  copy: (source, start, length) => new Uint8Array(new Uint8Array(source, start, length)).buffer,
  bufferPrototype: Object.create(null) as object,
  isUntransferable: () => false, // moving it throws
  toBuffer: (bytes) => new Uint8Array(bytes),
};
