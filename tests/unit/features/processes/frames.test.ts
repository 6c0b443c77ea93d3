/** Frames between processes: cut anywhere, damaged anyhow. */
import { describe, expect, test } from "vitest";
import { Channel } from "../../../../src/features/workers/processes/channel.ts";
import {
  bytesFrame,
  fileFrame,
  FrameReader,
  IN_FILE,
  MESSAGE,
  MIRROR,
  mirrorFrame,
  PAYLOAD,
  readBytes,
  readFileFrame,
  readMirror,
} from "../../../../src/features/workers/processes/frames.ts";
import {
  AREA_BYTES,
  CHILD,
  HOST,
  LARGE_BYTES,
} from "../../../../src/features/workers/processes/shared-file.ts";
import { ProcessWorker } from "../../../../src/features/workers/processes/host/process-worker.ts";
import { laneBytes, REQUEST_RING, responseRing } from "../../../../src/lane/layout.ts";
import { HostMirror } from "../../../../src/features/workers/mirror/host/host-mirror.ts";
import { SpscRing } from "../../../../src/ring/spsc-ring.ts";
import type { ChildProcess, SharedFile } from "../../../../src/runtimes/processes/types.ts";
import { hostRuntime } from "../../../../src/runtimes/host.ts";
import { createRandom } from "../../../support/random.ts";

const NO_FILE = { file: undefined, isFileMemory: false };

const records = new Int32Array(new SharedArrayBuffer(32));
records.set([32, 0, 1, 2, 3, 4, 5, 6]);
const mirrored = { heddle: "mirror", head: 64, records, closing: 1, loads: [3, 4] } as const;

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const stream = concat([
  mirrorFrame(mirrored),
  ...bytesFrame(PAYLOAD, new Uint8Array([1, 2, 3])),
  mirrorFrame({ heddle: "mirror", head: 0, records: undefined, words: new Int32Array([7]) }),
  ...bytesFrame(MESSAGE, new Uint8Array(0)),
  fileFrame(70_000, -8),
]);

describe("frames", () => {
  test("arrive whole, wherever the stream is cut", () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const frames: [number, ArrayBuffer][] = [];
      const reader = new FrameReader((kind, frame) => frames.push([kind, frame]));
      reader.push(stream.subarray(0, cut));
      reader.push(stream.subarray(cut));
      expect(frames.map(([kind]) => kind)).toEqual([MIRROR, PAYLOAD, MIRROR, MESSAGE, IN_FILE]);
      const first = readMirror(frames[0]![1]);
      expect({ ...first, records: [...first.records!] }).toEqual({
        ...mirrored,
        records: [...records],
      });
      expect([...readBytes(frames[1]![1])]).toEqual([1, 2, 3]);
      expect(readMirror(frames[2]![1])).toMatchObject({ head: 0, records: undefined });
      expect(readBytes(frames[3]![1])).toHaveLength(0);
      expect(readFileFrame(frames[4]![1])).toEqual({ bytes: 70_000, position: -8 });
    }
  });

  test("byte by byte", () => {
    const kinds: number[] = [];
    const reader = new FrameReader((kind) => kinds.push(kind));
    for (const byte of stream) reader.push(Uint8Array.of(byte));
    expect(kinds).toEqual([MIRROR, PAYLOAD, MIRROR, MESSAGE, IN_FILE]);
  });

  test("that claim more words than they have are refused", () => {
    for (const claimed of [5, 6]) {
      const frame = mirrorFrame(mirrored);
      new Int32Array(frame.buffer)[claimed] = 100;
      expect(() => readMirror(frame.buffer as ArrayBuffer)).toThrow(/A frame of \d+ bytes claims/);
    }
  });

  test("larger ones than may come are refused before any memory is taken", () => {
    const reader = new FrameReader(() => {}, 1024);
    expect(() => reader.push(new Uint8Array(new Uint32Array([2048, PAYLOAD]).buffer))).toThrow(
      /A frame of kind 2 claims 2048 bytes/,
    );
  });
});

/** A process that sends these bytes. */
function workerThatSends(): {
  send(bytes: Uint8Array): void;
  killed(): boolean;
  worker: ProcessWorker;
} {
  let listener: (bytes: Uint8Array) => void = () => {};
  let isKilled = false;
  const child: ChildProcess = {
    write: () => {},
    onData: (take) => listener = take,
    onExit: () => {},
    ...NO_FILE,
    read: () => Promise.resolve(undefined),
    kill: () => isKilled = true,
    ref: () => {},
    unref: () => {},
  };
  const worker = new ProcessWorker(child, hostRuntime, 1 << 20);
  return { send: (bytes) => listener(bytes), killed: () => isKilled, worker };
}

test("text on the pipe is refused before any memory is taken", () => {
  for (const text of ["hello world\n", "log line\n12", "x".repeat(16), "\0".repeat(16)]) {
    const reader = new FrameReader(() => {});
    expect(() => reader.push(new TextEncoder().encode(text))).toThrow(/A frame of kind/);
  }
});

test("a value in a file that is not there kills the process", () => {
  const { send, killed, worker } = workerThatSends();
  const errors: unknown[] = [];
  worker.onError((error) => errors.push(error));
  send(fileFrame(70_000, 0));
  expect(killed()).toBe(true);
  expect(String(errors[0])).toMatch(/A value in a file that is not there/);
});

test("a process that sends damaged frames is killed, and nothing is thrown", () => {
  const random = createRandom(27);
  const sizes = { requests: 1024, responses: 1024 };
  let killed = 0;
  for (let round = 0; round < 3000; round++) {
    const memory = new SharedArrayBuffer(laneBytes(sizes));
    SpscRing.create(memory, REQUEST_RING, sizes.requests);
    SpscRing.create(memory, responseRing(sizes.requests), sizes.responses);
    const { send, killed: isKilled, worker } = workerThatSends();
    const mirror = new HostMirror({
      memory,
      requestCapacity: sizes.requests,
      maxSent: 64,
      coarseNow: () => 1,
      loads: new Int32Array(new SharedArrayBuffer(64)),
      mayFollow: () => true,
      post: () => {},
      microtask: () => {},
    });
    const errors: unknown[] = [];
    worker.onError((error) => errors.push(error));
    worker.onMessage((message) => {
      if ((message as { heddle?: string })?.heddle === "mirror") mirror.receive(message as never);
    });
    const bytes = stream.slice();
    for (let damage = 0; damage < 1 + round % 4; damage++) {
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    }
    send(bytes);
    expect(errors.length > 0).toBe(isKilled());
    if (isKilled()) killed++;
  }
  expect(killed).toBeGreaterThan(1000);
});

test("messages arrive as they were posted, with copies of shared memory", async () => {
  let listener: (bytes: Uint8Array) => void = () => {};
  const received: unknown[] = [];
  const sender = new Channel(
    { write: (chunks) => listener(concat(chunks)), onData: () => {}, ...NO_FILE },
    HOST,
    hostRuntime,
    () => {},
  );
  const receiver = new Channel(
    { write: () => {}, onData: (take) => listener = take, ...NO_FILE },
    CHILD,
    hostRuntime,
    (message) => received.push(message),
  );
  const shared = new SharedArrayBuffer(16);
  new Uint8Array(shared)[3] = 9;
  sender.port.post([shared], [], 8);
  sender.post({ heddle: "x", uses: new Set(["a"]), buffer: shared, none: undefined });
  sender.port.post({ request: 1, values: { buffer: shared } }, []);
  await Promise.resolve();
  expect(received).toEqual([{
    heddle: "x",
    uses: new Set(["a"]),
    buffer: expect.any(ArrayBuffer),
    none: undefined,
  }]);
  const { message } = receiver.port.receive()!;
  expect(new Uint8Array((message as SharedArrayBuffer[])[0]!)).toEqual(
    new Uint8Array([0, 0, 0, 9, 0, 0, 0, 0]),
  );
  expect(receiver.port.receive()).toMatchObject({ message: { request: 1 } });
  expect(receiver.port.receive()).toBe(undefined);
});

test("large payloads are told of in a frame, and are read when they are taken", async () => {
  let listener: (bytes: Uint8Array) => void = () => {};
  let written = 0;
  const memory = new Uint8Array(4096 + 2 * AREA_BYTES);
  const words = new Int32Array(memory.buffer);
  const file: SharedFile = {
    readWord: (index) => words[index],
    writeWord: (index, word) => Number.isInteger(words[index] = word),
    write: (bytes, position) => {
      memory.set(bytes, position);
      return true;
    },
    read: (into, position) => {
      into.set(memory.subarray(position, position + into.length));
      return true;
    },
  };
  const write = (chunks: readonly Uint8Array[]): void => {
    const bytes = concat(chunks);
    written += bytes.length;
    listener(bytes);
  };
  const onData = (take: (bytes: Uint8Array) => void): void => void (listener = take);
  const shared = { file, isFileMemory: true };
  const sender = new Channel({ write, onData: () => {}, ...shared }, HOST, hostRuntime, () => {});
  const receiver = new Channel(
    { write: () => {}, onData, ...shared },
    CHILD,
    hostRuntime,
    () => {},
  );
  for (const value of [1, 2]) {
    sender.port.post([new SharedArrayBuffer(LARGE_BYTES)], [], LARGE_BYTES - value); // below the limit
    const buffer = new SharedArrayBuffer(3 * LARGE_BYTES);
    new Uint8Array(buffer).fill(value);
    sender.port.post([buffer], [], buffer.byteLength);
  }
  await Promise.resolve();
  expect(written).toBeLessThan(3 * LARGE_BYTES); // the two small ones, and frames
  for (const value of [1, 2]) {
    receiver.port.receive();
    const [buffer] = receiver.port.receive()!.message as [SharedArrayBuffer];
    expect(new Uint8Array(buffer)).toEqual(new Uint8Array(3 * LARGE_BYTES).fill(value));
  }
});
