/** Sources of items: how they are opened, and what ends them. */
import { EventEmitter, on } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import {
  endSource,
  endStreams,
  openSource,
} from "../../../../src/features/calls/streams/sources/open-source.ts";

describe("openSource", () => {
  test("an error of opening is that of the first item", () => {
    const source = openSource({
      [Symbol.asyncIterator]: () => {
        throw new RangeError("not opened");
      },
    });
    expect(() => source.next()).toThrow("not opened");
    endSource(source);
  });

  test("an emitter is listened to at once", async () => {
    class Lines extends EventEmitter {
      [Symbol.asyncIterator](): AsyncIterator<unknown> {
        return on(this, "line", { close: ["close"] });
      }
    }
    const lines = new Lines();
    const source = openSource(lines);
    lines.emit("line", 1);
    lines.emit("close");
    expect(await source.next()).toEqual({ done: false, value: [1] });
    expect(await source.next()).toEqual({ done: true, value: undefined });
  });

  test("an error that an emitter has emitted before the first read is that of the first item", () => {
    const emitter = Object.assign(new EventEmitter(), {
      [Symbol.asyncIterator]: () => ({ next: () => "next" }),
    });
    const source = openSource(emitter);
    emitter.emit("error", new Error("first"));
    emitter.emit("error", new Error("second"));
    expect(() => source.next()).toThrow("first");
    expect(source.next()).toBe("next");
    emitter.emit("error", new Error("its iterator tells"));
    expect(source.next()).toBe("next");
  });

  test("return() destroys a stream whose next() waits", async () => {
    const stream = new Readable({ read() {} });
    const source = openSource(stream);
    const next = Promise.resolve(source.next()).then(() => "ended", () => "ended");
    await source.return!();
    expect(stream.destroyed).toBe(true);
    expect(await next).toBe("ended");
  });

  test("an emitter that cannot be ended has no listener afterwards", async () => {
    const feed = Object.assign(new EventEmitter(), {
      [Symbol.asyncIterator]: () => ({ next: () => "next", return: () => "ended" }),
    });
    expect(await openSource(feed).return!()).toBe("ended");
    expect(feed.listenerCount("error")).toBe(0);
  });

  test("return() waits for close() of an emitter, and fails as it does", async () => {
    const handle = (close: () => Promise<void>): EventEmitter =>
      Object.assign(new EventEmitter(), {
        close,
        [Symbol.asyncIterator]: () => ({ next: () => "next", return: () => "ended" }),
      });
    let isClosed = false;
    const closing = handle(async () => {
      await Promise.resolve();
      isClosed = true;
    });
    expect(await openSource(closing).return!()).toBe("ended");
    expect(isClosed).toBe(true);
    const failing = () => handle(() => Promise.reject(new Error("not closed")));
    await expect(openSource(failing()).return!()).rejects.toThrow("not closed");
    endSource(openSource(failing()));
  });
});

describe("endStreams", () => {
  test("opens no iterable, and awaits no promise", () => {
    let opened = 0;
    const open = (): never => {
      opened++;
      throw new Error("opened");
    };
    const promise = Object.assign(Promise.resolve(), { next: open, [Symbol.asyncIterator]: open });
    const [name] = ["then"];
    const unreadable = Object.defineProperty({ [Symbol.asyncIterator]: open }, name!, {
      get: open,
    });
    endStreams([{ [Symbol.asyncIterator]: open }, promise, 1, null, "text", [1]]);
    expect(opened).toBe(0);
    endStreams([unreadable]);
    expect(opened).toBe(1);
  });

  test("ends what holds something, whatever that throws", () => {
    let ended = 0;
    const iterator = {
      next: () => ({ done: false, value: 1 }),
      return: () => {
        ended++;
        throw new Error("return failed");
      },
      [Symbol.iterator]() {
        return this;
      },
    };
    const stream = new Readable({ read() {} });
    const locked = new ReadableStream();
    locked.getReader();
    endStreams([iterator, locked, stream]);
    expect(ended).toBe(1);
    expect(stream.destroyed).toBe(true);
  });
});
