/** Large values in the file of a host and its process. */
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../../../src/errors.ts";
import {
  AREA_BYTES,
  begunWriter,
  CHILD,
  FIRST_WORDS,
  HOST,
  LargeValues,
  readBegun,
} from "../../../../src/features/workers/processes/shared-file.ts";
import type { SharedFile } from "../../../../src/runtimes/processes/types.ts";
import { createRandom } from "../../../support/random.ts";

const READ_BY_CHILD = 2;

/** A file of memory, which refuses to grow beyond `space` bytes. */
function createFile(space: () => number = () => Infinity): SharedFile {
  const bytes = new Uint8Array(4096 + 2 * AREA_BYTES);
  const words = new Int32Array(bytes.buffer);
  words.set(FIRST_WORDS);
  words[0] = 0; // the child has it open
  return {
    readWord: (index) => words[index],
    writeWord: (index, word) => {
      words[index] = word;
      return true;
    },
    write: (from, position) => {
      if (from.length > space()) return false;
      bytes.set(from, position);
      return true;
    },
    read: (into, position) => {
      if (position + into.length > bytes.length) return false;
      into.set(bytes.subarray(position, position + into.length));
      return true;
    },
  };
}

const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

describe("large values", () => {
  test("arrive whole in order, in both directions, and none is overwritten before it is read", () => {
    const random = createRandom(61);
    const file = createFile();
    const ends = [new LargeValues(file, HOST), new LargeValues(file, CHILD)] as const;
    for (const [from, to] of [[HOST, CHILD], [CHILD, HOST]] as const) {
      const sent: { position: number; length: number; value: number }[] = [];
      let refused = 0;
      let read = 0;
      for (let round = 0; round < 400; round++) {
        if (random() < 0.6) {
          const length = 1 + Math.floor(random() * 3_000_000);
          const position = ends[from].write(filled(length, round & 255));
          if (position === undefined) refused++;
          else sent.push({ position, length, value: round & 255 });
        } else if (sent.length > 0) {
          const { position, length, value } = sent.shift()!;
          const got = new Uint8Array(ends[to].announce(position, length)(), 0, length);
          expect(got.length).toBe(length);
          expect(got[0]).toBe(value);
          expect(got[length >> 1]).toBe(value);
          expect(got[length - 1]).toBe(value);
          read++;
        }
      }
      expect(refused).toBeGreaterThan(0);
      expect(read).toBeGreaterThan(50);
    }
  });

  test("use the same pages again when all were read", () => {
    const file = createFile();
    const [host, child] = [new LargeValues(file, HOST), new LargeValues(file, CHILD)];
    for (let call = 0; call < 100; call++) {
      const position = host.write(filled(1_000_000, call))!;
      expect(position & (AREA_BYTES - 1)).toBe(0);
      expect(new Uint8Array(child.announce(position, 1_000_000)())[999_999]).toBe(call);
    }
  });

  test("of a whole area go, and larger ones do not", () => {
    const file = createFile();
    const [host, child] = [new LargeValues(file, HOST), new LargeValues(file, CHILD)];
    expect(host.write(new Uint8Array(AREA_BYTES + 1))).toBe(undefined);
    for (let call = 0; call < 3; call++) {
      const position = host.write(filled(AREA_BYTES, 7))!;
      expect(host.write(new Uint8Array(8))).toBe(undefined);
      expect(new Uint8Array(child.announce(position, AREA_BYTES)())[AREA_BYTES - 1]).toBe(7);
    }
  });

  test("that find no space are refused, and the next one is not", () => {
    let space = 10;
    const file = createFile(() => space);
    const [host, child] = [new LargeValues(file, HOST), new LargeValues(file, CHILD)];
    expect(host.write(filled(100, 1))).toBe(undefined);
    space = 1000;
    const position = host.write(filled(100, 2))!;
    expect(new Uint8Array(child.announce(position, 100)())[99]).toBe(2);
  });

  test("are refused if they cannot be in the file", () => {
    const host = new LargeValues(createFile(), HOST);
    for (
      const [position, bytes] of [
        [4, 8],
        [0, -1],
        [0, 0.5],
        [0, NaN],
        [0, Infinity],
        [0, 2 ** 40],
        [8, AREA_BYTES],
        [-8, 16],
      ] as const
    ) {
      expect(() => host.announce(position, bytes)(), `${bytes} at ${position}`).toThrow(
        ProtocolError,
      );
    }
  });

  test("are refused if they come twice, or leave something out", () => {
    const file = createFile();
    const [host, child] = [new LargeValues(file, HOST), new LargeValues(file, CHILD)];
    child.write(filled(1000, 1));
    expect(() => host.announce(8, 8)).toThrow(ProtocolError);
    host.announce(0, 1000)();
    for (const position of [0, 8, 992, 1008, -AREA_BYTES]) {
      expect(() => host.announce(position, 1000), `${position}`).toThrow(ProtocolError);
    }
    host.announce(AREA_BYTES, 8)();
  });

  test("go through the pipe while the child is not known to have the file open", () => {
    const file = createFile();
    file.writeWord(0, -1);
    const host = new LargeValues(file, HOST);
    expect(host.write(filled(100, 1))).toBe(undefined);
    file.writeWord(0, 0);
    expect(host.write(filled(100, 1))).toBe(0);
  });

  test("are not overwritten because of what the other side claims to have read", () => {
    const file = createFile();
    const host = new LargeValues(file, HOST);
    const first = host.write(filled(AREA_BYTES, 1))!;
    for (const claimed of [AREA_BYTES + 8, -8, 2 ** 31 - 8, -(2 ** 31)]) {
      file.writeWord(READ_BY_CHILD, claimed);
      expect(host.write(filled(8, 2)), `${claimed}`).toBe(undefined);
    }
    expect(new Uint8Array(new LargeValues(file, CHILD).announce(first, AREA_BYTES)())[0]).toBe(1);
  });
});

test("what a child had begun is known if it could write it", () => {
  const file = createFile();
  file.writeWord(0, -1);
  expect(readBegun(file)).toBe(undefined);
  const note = begunWriter(file)!;
  expect(readBegun(file)).toBe(0);
  note(4096);
  expect(readBegun(file)).toBe(4096);
  expect(begunWriter({ ...file, writeWord: () => false })).toBe(undefined);
});
