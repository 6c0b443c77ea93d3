/** Values of declared shapes, as a feature of the codec. */
import { viewMemory } from "../../memory/views.ts";
import type { ValueFeature } from "../feature.ts";
import type { Reader } from "../reader.ts";
import { STRUCT, VALUE_HEADER_BYTES } from "../tags.ts";

/** Reads STRUCT at `at`, whose first word is `word`. */
function readStruct(reader: Reader, at: number, word: number): unknown {
  const position = (word >> 8) & 0xff;
  const declared = reader.declared?.[position];
  if (declared === undefined) throw reader.corrupt(`struct ${position}`, at);
  const { codec, isView } = declared;
  const start = at + VALUE_HEADER_BYTES;
  const end = start + reader.count(at, 1);
  if ((end & 7) !== 0) throw reader.corrupt("length of a struct", at);
  reader.next = end;
  const { memory, access: { text } } = reader;
  if (!isView) return codec.read(memory, text, start, end);
  if (!reader.isBorrowing) {
    const copy = viewMemory(new SharedArrayBuffer(end - start));
    copy.u8.set(memory.u8.subarray(start, end));
    return codec.view(copy, text, 0, end - start);
  }
  const view = codec.view(memory, text, start, end) as object;
  reader.borrows.push({ revoke: () => codec.revoke(view) });
  return view;
}

export const structValues: ValueFeature = {
  name: "structs",
  valueReaders: { [STRUCT]: readStruct },
};
