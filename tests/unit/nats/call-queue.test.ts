/** Requests for durable calls: what ends them, and what is delivered meanwhile. */
import { describe, expect, test } from "vitest";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { CallQueue } from "../../../src/nats/durable/call-queue.ts";
import { Delivery } from "../../../src/nats/durable/delivery.ts";
import { rejection } from "../../support/conformance.ts";
import { VirtualClock } from "../../support/virtual-nats.ts";

type Receive = (error: Error | null, msg: Msg) => void;

/** A connection, and what the server sends. */
function setUp() {
  const clock = new VirtualClock();
  const requests: { readonly inbox: string; readonly batch: number }[] = [];
  const answers: string[] = [];
  const calls: Delivery[] = [];
  let receive: Receive = () => {};
  let onStatus: (type: string) => void = () => {};
  let drained = (): void => {};
  let isUnsubscribed = false;
  const connection = {
    publish: (_subject: string, payload: string, { reply }: { readonly reply: string }) => {
      requests.push({ inbox: reply, batch: JSON.parse(payload).batch });
    },
    subscribe: (_subject: string, { callback }: { readonly callback: Receive }) => {
      receive = callback;
      return {
        drain: () => new Promise<void>((resolve) => drained = resolve),
        unsubscribe: () => isUnsubscribed = true,
      };
    },
    status: async function* () {
      for (;;) {
        yield { type: await new Promise<string>((resolve) => onStatus = resolve) };
      }
    },
  } as unknown as NatsConnection;
  const queue = new CallQueue({
    runtime: clock.runtime,
    connection,
    subject: "next",
    onCall: (delivery) => calls.push(delivery),
  });
  const deliver = (seq: number, reply = `$JS.ACK.S.heddle.1.${seq}.9.5000000.0`): void =>
    receive(null, {
      subject: "s.durable.=.id",
      reply,
      data: new Uint8Array(1),
      respond: (answer: Uint8Array) => answers.push(new TextDecoder().decode(answer)),
    } as unknown as Msg);
  const status = (code: number, inbox = requests.at(-1)!.inbox): void =>
    receive(null, {
      subject: inbox,
      data: new Uint8Array(),
      headers: { code, description: "status" },
    } as unknown as Msg);
  return {
    clock,
    queue,
    requests,
    answers,
    calls,
    deliver,
    status,
    tell: (type: string) => onStatus(type),
    endDrain: () => drained(),
    isUnsubscribed: () => isUnsubscribed,
  };
}

async function isSettled(promise: Promise<unknown>, clock: VirtualClock): Promise<boolean> {
  let settled = false;
  promise.finally(() => settled = true).catch(() => {});
  await clock.advance(1);
  return settled;
}

describe("a request for calls", () => {
  test("ends when all have come", async () => {
    const { queue, clock, requests, calls, deliver } = setUp();
    const pull = queue.pull(2);
    deliver(1);
    expect(await isSettled(pull, clock)).toBe(false);
    deliver(2);
    expect(await pull).toBe(true);
    expect(requests.map(({ batch }) => batch)).toEqual([2]);
    expect(calls.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test.each([404, 408])("ends by status %i", async (code) => {
    const { queue, status } = setUp();
    const pull = queue.pull(2);
    status(100);
    status(code);
    expect(await pull).toBe(false);
  });

  test.each([409, 503])("fails by status %i", async (code) => {
    const { queue, status } = setUp();
    const failure = rejection(queue.pull(2));
    status(code);
    expect(String(await failure)).toContain(`${code} status`);
  });

  test("does not end by the status of an earlier one, and its late calls are taken", async () => {
    const { queue, clock, requests, calls, deliver, status } = setUp();
    const first = rejection(queue.pull(1));
    await clock.advance(10_000);
    expect(String(await first)).toContain("not answered");
    const second = queue.pull(1);
    status(408, requests[0]!.inbox);
    expect(await isSettled(second, clock)).toBe(false);
    deliver(1);
    await second;
    deliver(2);
    expect(calls.length).toBe(2);
  });

  test("is lost with its connection", async () => {
    const { queue, clock, tell } = setUp();
    const failure = rejection(queue.pull(1));
    await clock.advance(1);
    tell("disconnect");
    await clock.advance(1);
    tell("reconnect");
    expect(String(await failure)).toContain("connection was lost");
  });

  test("ends when the machine stops, and calls on their way are taken", async () => {
    const { queue, clock, calls, deliver, endDrain } = setUp();
    const pull = queue.pull(1);
    const drain = queue.drain();
    await pull;
    deliver(1);
    expect(await isSettled(drain, clock)).toBe(false);
    endDrain();
    await drain;
    expect(calls.length).toBe(1);
  });

  test("ends at once when the machine stops while the server is away", async () => {
    const { queue, clock, tell, isUnsubscribed } = setUp();
    await clock.advance(1);
    tell("disconnect");
    await clock.advance(1);
    await queue.drain();
    expect(isUnsubscribed()).toBe(true);
  });
});

describe("a delivery", () => {
  test("is read from subjects of old and of new servers", () => {
    const { calls, deliver } = setUp();
    deliver(7);
    deliver(0, "$JS.ACK.hub.hash.S.heddle.3.7.9.5500000.0.random");
    const [old, recent] = calls;
    expect([old!.seq, old!.count, old!.storedMs]).toEqual([7, 1, 5]);
    expect([recent!.seq, recent!.count, recent!.storedMs]).toEqual([7, 3, 5.5]);
    expect(old!.key).not.toBe(recent!.key);
  });

  test("is answered in words that the server reads", () => {
    const { queue, answers, calls, deliver } = setUp();
    deliver(1);
    const [delivery] = calls;
    delivery!.renew();
    delivery!.returnAfter(0.2);
    delivery!.returnAfter(2 ** 31);
    delivery!.ack();
    delivery!.terminate();
    const delays = ["1000000", "86400000000000"].map((nanos) => `-NAK {"delay":${nanos}}`);
    expect(answers).toEqual(["+WPI", ...delays, "+ACK", "+TERM"]);
    queue.beginEpoch();
    delivery!.ack(); // the number belongs to another call now
    expect(answers.length).toBe(5);
  });

  test("of a closed connection is answered by nothing", () => {
    const msg = {
      reply: "$JS.ACK.S.heddle.1.1.1.1.0",
      data: new Uint8Array(),
      respond: () => {
        throw new Error("closed");
      },
    } as unknown as Msg;
    expect(() => Delivery.from(msg, { isOver: false })!.renew()).not.toThrow();
    expect(Delivery.from({ ...msg, reply: "_INBOX.a" } as Msg, { isOver: false })).toBe(undefined);
  });
});
