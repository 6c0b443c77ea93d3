/** Short strings of an object, which are gathered behind it. */
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../../src/errors.ts";
import { MAX_GATHERED_UNITS } from "../../../src/codec/kinds/text.ts";
import { TEXT, TEXTS } from "../../../src/codec/tags.ts";
import { decode, encode, roundTrip } from "../../support/codec.ts";

/** The word at byte `at`. */
const wordAt = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer).getInt32(at, true);

describe("gathered texts", () => {
  test("strings of every length up to the limit arrive in both encodings", () => {
    for (let units = 0; units < MAX_GATHERED_UNITS + 4; units++) {
      for (const letter of ["a", "é", "ж", "\ud800"]) {
        const text = letter.repeat(units);
        expect(roundTrip([{ text }, [text, "x", text]])).toEqual([{ text }, [text, "x", text]]);
      }
    }
  });

  test("segments of every size arrive with empty strings at their edges", () => {
    for (let length = 1990; length < 2120; length += 3) {
      const list: string[] = [];
      for (let units = 0; units < length;) {
        const next = Math.min(length - units, 1 + units % 61);
        list.push("", String(units).padEnd(next, "~").slice(0, next));
        units += next;
      }
      list.push("", "tail", "");
      expect(roundTrip([list])).toEqual([list]);
      const twoByte = list.map((text, index) => index === list.length - 2 ? "хвост" : text);
      expect(roundTrip([twoByte, list])).toEqual([twoByte, list]);
    }
  });

  test("any number of strings arrives with a two-byte string at any position", () => {
    for (const count of [1, 2, 47, 48, 49, 300, 1000]) {
      const list = Array.from({ length: count }, (_, index) => index % 7 === 0 ? "" : `é${index}`);
      expect(roundTrip([list])).toEqual([list]);
      for (const place of [0, count >> 1, count - 1]) {
        for (const odd of ["ж", "\ud800", "\udc00x", "\u{1f600}", "\u0100", "\u00ff"]) {
          const mixed = list.with(place, odd);
          expect(roundTrip([mixed])).toEqual([mixed]);
        }
      }
    }
  });

  test("empty strings alone take no segment", () => {
    const bytes = encode([["", ""]]);
    expect(decode(bytes, 1)).toEqual([["", ""]]);
    expect(bytes.length).toBe(8 + 8 + 2 * 8);
  });

  test("strings beside objects are written individually", () => {
    const values = ["one", { a: "two" }, "three", ["four"], new Map([["five", "six"]]), "seven"];
    expect(roundTrip(values)).toEqual(values);
  });

  test("an error property that is left out also drops its strings", () => {
    const cause = { a: "gone", b: ["gone too", () => {}] };
    const error = Object.assign(new Error("message", { cause }), { kept: "kept", lost: cause });
    const [{ list }] = roundTrip([{ list: ["before", error, "after"] }]) as [{ list: unknown[] }];
    expect([list[0], list[2]]).toEqual(["before", "after"]);
    expect(list[1]).toMatchObject({ message: "message", kept: "kept" });
    expect(Object.keys(list[1] as object)).toEqual(["kept"]);
  });

  test("an exception leaves no strings behind for the next value", () => {
    expect(() => roundTrip([{ a: "text", b: () => {} }])).toThrow(/args\[0\]\.b/);
    expect(roundTrip([{ a: "other" }])).toEqual([{ a: "other" }]);
  });

  test("damage is a protocol error", () => {
    const bytes = encode([["ab", "cd"]]);
    expect(wordAt(bytes, 0)).toBe(TEXTS);
    expect(wordAt(bytes, 16)).toBe(TEXT);
    const segment = 8 * wordAt(bytes, 4);
    const damages: [at: number, word: number][] = [
      [4, 0], // no texts where some are needed
      [4, -1],
      [4, 1 << 28],
      [4, segment / 8 - 1], // not where the value ends
      [20, 1], // one unit less than there are
      [20, -2],
      [20, 5], // straddles the end
      [segment, 3],
      [segment, 1 << 30],
      [segment, -4],
      [segment + 4, 0],
      [segment + 4, 3],
    ];
    for (const [at, word] of damages) {
      const copy = bytes.slice();
      new DataView(copy.buffer).setInt32(at, word, true);
      expect(() => decode(copy, 1), `${word} at ${at}`).toThrow(ProtocolError);
    }
    const nested = encode([[{ a: "b" }]]);
    new DataView(nested.buffer).setInt32(16, TEXTS, true);
    expect(() => decode(nested, 1)).toThrow(ProtocolError);
  });
});
