/** How many bytes may be in messages that a worker has not taken. */
import { describe, expect, test } from "vitest";
import { CALL } from "../../../../src/lane/frame.ts";
import { messageBytes, PayloadCredit } from "../../../../src/host/lanes/payload-credit.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { createHeld } from "../../../support/endpoints.ts";
import { FakeLane } from "../../../support/lanes.ts";

const { kinds } = currentRuntime;
const MIB = 2 ** 20;
const MAX_BYTES = 8 * MIB;

/** A lane to which messages go, and the positions of their records. */
function createPort() {
  const lane = new FakeLane();
  const { credit, endpoint: { tx } } = lane;
  const post = (bytes: number): number => {
    lane.send(0);
    credit.sent(tx.position, bytes);
    return tx.position;
  };
  return { lane, credit, tx, post };
}

describe("payload credit", () => {
  test("allows two messages of any size", () => {
    const { credit, post } = createPort();
    for (let message = 0; message < 2; message++) {
      expect(credit.hasRoomFor(100 * MAX_BYTES)).toBe(true);
      post(100 * MAX_BYTES);
    }
    expect(credit.hasRoomFor(1)).toBe(false);
  });

  test("allows any number of messages up to 8 MiB", () => {
    const { credit, post } = createPort();
    for (let message = 0; message < 64; message++) {
      expect(credit.hasRoomFor(MAX_BYTES / 64)).toBe(true);
      post(MAX_BYTES / 64);
    }
    expect(credit.hasRoomFor(1)).toBe(false);
    expect(credit.hasRoomFor(0)).toBe(true);
  });

  test("is exact to the byte", () => {
    const { credit, post } = createPort();
    for (const bytes of [MIB, 2 * MIB]) post(bytes);
    expect(credit.hasRoomFor(5 * MIB)).toBe(true);
    expect(credit.hasRoomFor(5 * MIB + 1)).toBe(false);
  });

  test("is returned in call order when the worker begins a call", () => {
    const { lane, credit, post } = createPort();
    for (const bytes of [3 * MIB, 2 * MIB, 3 * MIB]) post(bytes);
    expect(credit.hasRoomFor(1)).toBe(false);
    lane.begin(); // the room of its record is not handed back
    expect(credit.hasRoomFor(3 * MIB)).toBe(true);
    expect(credit.hasRoomFor(3 * MIB + 1)).toBe(false);
    post(3 * MIB);
    lane.begin();
    expect(credit.hasRoomFor(2 * MIB)).toBe(true);
    expect(credit.hasRoomFor(2 * MIB + 1)).toBe(false);
    while (lane.begin());
    lane.publish();
    for (let message = 0; message < 3; message++) post(2 * MIB);
    expect(credit.hasRoomFor(2 * MIB)).toBe(true);
    expect(credit.hasRoomFor(2 * MIB + 1)).toBe(false);
  });

  test("is returned when the records are released, also after they were overwritten", () => {
    const { lane, credit, post, tx } = createPort();
    for (let message = 0; message < 3; message++) post(4 * MIB);
    const first = tx.unreleased()[0];
    for (let record = 0; record < 3; record++) lane.begin();
    lane.publish();
    while (tx.unreleased().at(-1) !== first) {
      expect(tx.hasSpace(32)).toBe(true);
      lane.send(0); // not begun, in the place of one that was
      if (tx.unreleased().at(-1) !== first) {
        lane.begin();
        lane.publish();
      }
    }
    expect(credit.hasRoomFor(MAX_BYTES)).toBe(true);
  });

  test("counts revoked calls until the worker has passed them", () => {
    const { lane, credit, tx, post } = createPort();
    const positions = [4, 4, 4].map((mib) => post(mib * MIB));
    for (const position of positions.slice(0, 2)) expect(tx.revokeAt(position)).toBe(true);
    expect(credit.hasRoomFor(1)).toBe(false);
    // It passes both to begin the third.
    expect(lane.begin()).toBe(true);
    expect(credit.hasRoomFor(1)).toBe(false);
    lane.publish();
    expect(credit.hasRoomFor(MAX_BYTES)).toBe(true);
  });

  test("is separate for each lane", () => {
    const [full, other] = [createPort(), createPort()];
    for (let message = 0; message < 2; message++) full.post(MAX_BYTES);
    expect(full.credit.hasRoomFor(1)).toBe(false);
    expect(other.credit.hasRoomFor(1)).toBe(true);
  });

  test("counts messages of a real endpoint", () => {
    const lane = new FakeLane();
    const { endpoint, pair, credit } = lane;
    const snapshot = pair.snapshots.capture([new Uint8Array(3 * MIB)]);
    const bytes = messageBytes(snapshot, kinds);
    expect(bytes).toBeGreaterThanOrEqual(3 * MIB);
    expect(bytes).toBeLessThan(3 * MIB + 4096);
    for (let message = 0; message < 2; message++) {
      expect(credit.hasRoomFor(bytes)).toBe(true);
      expect(endpoint.sendSnapshot(CALL, 0, 0, 0, snapshot, [])).toBe(true);
      credit.sent(endpoint.tx.position, bytes);
    }
    expect(pair.toWorker).toHaveLength(2);
    expect(credit.hasRoomFor(bytes)).toBe(false);
    lane.begin();
    expect(credit.hasRoomFor(bytes)).toBe(true);
  });
});

describe("bytes of a message", () => {
  test("include its buffers and the encoded values", () => {
    const { port1, port2 } = new MessageChannel();
    const attachments = [new ArrayBuffer(8), port1, new ArrayBuffer(16)];
    const payload = { buffer: undefined, bytes: 0, attachments };
    const empty = messageBytes(createHeld({ payload: { ...payload, attachments: [] } }), kinds);
    expect(empty).toBeGreaterThan(0);
    const bytes = messageBytes(createHeld({ payload }), kinds);
    expect(bytes - empty).toBe(24);
    const encoded = { ...payload, bytes: 1000, buffer: new SharedArrayBuffer(4096) };
    expect(messageBytes(createHeld({ payload: encoded }), kinds) - bytes).toBe(1000);
    port2.close();
  });

  test("are zero if the values need no message", () => {
    expect(messageBytes(createHeld({ inline: new Uint8Array(100) }), kinds)).toBe(0);
  });

  test("are counted for a ring of any size", () => {
    const begun = new Set<number>();
    const credit = new PayloadCredit({ isBegun: (position) => begun.has(position) });
    for (const position of [0, 32, 64]) credit.sent(position, 4 * MIB);
    begun.add(32); // not the oldest
    expect(credit.hasRoomFor(1)).toBe(false);
    begun.add(0);
    expect(credit.hasRoomFor(4 * MIB)).toBe(true);
    expect(credit.hasRoomFor(MAX_BYTES)).toBe(true); // the second message
  });
});
