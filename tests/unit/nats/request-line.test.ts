/** Requests about durable calls: how many at a time, and which are repeated. */
import { describe, expect, test } from "vitest";
import { PoolClosedError, TimeoutError } from "../../../src/errors.ts";
import { RequestLine } from "../../../src/nats/durable/request-line.ts";
import { codedError, isTemporary } from "../../../src/nats/durable/store-errors.ts";
import { rejection } from "../../support/conformance.ts";
import { VirtualClock } from "../../support/virtual-nats.ts";

const timeout = (): Error => Object.assign(new Error("timeout"), { name: "TimeoutError" });
const describeError = (reason: unknown) => codedError("Not stored", reason);

function setUp(waitMs = 5000) {
  const clock = new VirtualClock();
  return { clock, line: new RequestLine(clock.runtime, waitMs) };
}

describe("requests about durable calls", () => {
  test("wait in line, each for one before it", async () => {
    const { clock, line } = setUp();
    let [running, most] = [0, 0];
    const request = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => clock.runtime.setTimeout(resolve, 10));
      running--;
    };
    const all = Promise.all(Array.from({ length: 1000 }, () => line.once(request)));
    await clock.advance(100);
    await all;
    expect([most, running]).toEqual([256, 0]);
    await line.once(() => Promise.resolve());
  });

  test("are repeated while the server does not answer, up to a limit", async () => {
    const { clock, line } = setUp();
    let attempts = 0;
    const answered = line.run(
      () => ++attempts < 4 ? Promise.reject(timeout()) : Promise.resolve("ok"),
      describeError,
    );
    await clock.advance(4000);
    expect(await answered).toBe("ok");
    const failed = rejection(line.run(() => Promise.reject(timeout()), describeError));
    await clock.advance(7000);
    const error = await failed;
    expect(error).toMatchObject({ code: "HEDDLE_NO_MACHINES", message: "Not stored: timeout." });
  });

  test("are not repeated when the server refuses them", async () => {
    const { line } = setUp();
    let attempts = 0;
    const refusal = new Error("no permission.");
    const request = () => {
      attempts++;
      return Promise.reject(refusal);
    };
    const error = await rejection(line.run(request, describeError));
    expect(error).toMatchObject({ message: "Not stored: no permission.", cause: refusal });
    expect(attempts).toBe(1);
  });

  test("in line fail with the others when the server goes away", async () => {
    const { clock, line } = setUp();
    let attempts = 0;
    const request = async (): Promise<never> => {
      attempts++;
      await new Promise<void>((resolve) => clock.runtime.setTimeout(resolve, 2000));
      throw timeout();
    };
    const all = Array.from({ length: 10_000 }, () => rejection(line.run(request, describeError)));
    await clock.advance(9000);
    expect(new Set((await Promise.all(all)).map(String)).size).toBe(1);
    expect(attempts).toBeLessThan(2000);
  });

  test("reject when the pool is closed", async () => {
    const { clock, line } = setUp(Infinity);
    const failed = rejection(line.run(() => Promise.reject(timeout()), describeError));
    await clock.advance(10_000);
    const closed = new PoolClosedError();
    line.close(closed);
    await clock.advance(2000);
    expect(await failed).toBe(closed);
  });

  test("know which errors pass", () => {
    const noResponders = { name: "JetStreamNotEnabled", cause: { name: "RequestError" } };
    for (const error of [timeout(), noResponders, { code: 10059 }, { code: 1, status: 503 }]) {
      expect(isTemporary(error)).toBe(true);
    }
    const disabled = { name: "JetStreamNotEnabled", cause: { name: "JetStreamApiError" } };
    const own = new TimeoutError("call", 1);
    for (const error of [new Error("other"), disabled, { code: 10071, status: 400 }, own, null]) {
      expect(isTemporary(error)).toBe(false);
    }
    expect(codedError("x", own)).toBe(own);
  });
});
