import { describe, expect, test } from "vitest";
import { createSettings } from "../../../../src/host/calls/call-settings.ts";
import { InFlight } from "../../../../src/host/calls/in-flight.ts";
import type { PoolParts } from "../../../../src/api/pool/parts.ts";
import { StreamCalls } from "../../../../src/features/calls/streams/host/stream-calls.ts";

/** Calls in flight, and a watch whose interval the test runs. */
class Watch {
  readonly inFlight = new InFlight();
  unread = 0;
  isCleared = false;
  tick = (): void => {};

  start(): () => void {
    const setInterval = (callback: () => void) => {
      this.tick = callback;
      return { clear: () => void (this.isCleared = true), ref() {}, unref() {} };
    };
    const { inFlight } = this;
    const parts = { dispatcher: { inFlight }, spec: { runtime: { setInterval } } };
    return new StreamCalls(parts as unknown as PoolParts).onUnread(() => this.unread++);
  }

  /** A call whose stream has a reader that has taken some items. */
  addStream(): { taken: number } {
    const call = this.inFlight.add(() => {}, () => {}, createSettings({ hasSignal: true }));
    const stream = {
      isOpen: true,
      taken: 0,
      onItems() {},
      drop() {},
      isWaitedFor: false,
      isOfNext: false,
    };
    call.extra!.stream = stream;
    this.inFlight.setIdle(call, true);
    return stream;
  }
}

describe("the watch of unread streams", () => {
  test("calls back when nothing was read between two looks", () => {
    const watch = new Watch();
    watch.addStream();
    const stop = watch.start();
    expect(watch.unread).toBe(0);
    watch.tick();
    expect(watch.unread).toBe(1);
    stop();
    expect(watch.isCleared).toBe(true);
  });

  test("waits for a stream that is read, although nobody waits for an item", () => {
    const watch = new Watch();
    const stream = watch.addStream();
    watch.addStream();
    watch.start();
    for (let n = 0; n < 3; n++) {
      stream.taken++;
      watch.tick();
    }
    expect(watch.unread).toBe(0);
    watch.tick();
    expect(watch.unread).toBe(1);
  });

  test("waits for calls", () => {
    const watch = new Watch();
    watch.addStream();
    const call = watch.inFlight.add(() => {}, () => {});
    watch.start();
    watch.tick();
    watch.tick();
    watch.inFlight.resolve(call, 1);
    watch.tick();
    expect(watch.unread).toBe(0);
    watch.tick();
    expect(watch.unread).toBe(1);
  });
});
