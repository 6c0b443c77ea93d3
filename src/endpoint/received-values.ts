/** Receiving side of an endpoint: the values of a record, wherever they are. */
import type { Decoder } from "../codec/decoder.ts";
import { normalizeNumber } from "../codec/numbers.ts";
import type { ReceivedShapes } from "../codec/shapes.ts";
import { ProtocolError } from "../errors.ts";
import { viewMemory } from "../memory/views.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import type { ObjectKinds, PayloadPort } from "../runtimes/runtime.ts";
import {
  countOf,
  FRAME_BYTES,
  IN_RECORD,
  INLINE,
  locationOf,
  NUMBER_FRAME_BYTES,
  NUMBER_ONLY,
  PLACEHOLDER_BYTES,
  PORT,
  WHAT_WORD,
} from "./frame.ts";
import { bufferOf, PayloadInbox } from "./payload-inbox.ts";

export class ReceivedValues {
  readonly #rx: RingConsumer;
  readonly #decoder: Decoder;
  readonly #shapes: ReceivedShapes;
  readonly #inbox: PayloadInbox;
  readonly #kinds: ObjectKinds;

  constructor(
    rx: RingConsumer,
    decoder: Decoder,
    shapes: ReceivedShapes,
    port: PayloadPort,
    kinds: ObjectKinds,
  ) {
    this.#rx = rx;
    this.#decoder = decoder;
    this.#shapes = shapes;
    this.#inbox = new PayloadInbox(port);
    this.#kinds = kinds;
  }

  /** All values of the polled record at `index`. Throws DataCloneError for an unreadable one. */
  values(index: number, what: number): unknown[] {
    const decoder = this.#decoder;
    const { memory, end } = this.#rx;
    const count = countOf(what);
    switch (locationOf(what)) {
      case INLINE:
        return decoder.all(memory, index + FRAME_BYTES, end, count);
      case NUMBER_ONLY:
        if (end - index < NUMBER_FRAME_BYTES) {
          throw new ProtocolError(`Number record of ${end - index} bytes.`);
        }
        return [normalizeNumber(memory.f64[(index + FRAME_BYTES) >> 3]!)];
      case PORT: {
        if (end - index < PLACEHOLDER_BYTES) {
          throw new ProtocolError(`Placeholder record of ${end - index} bytes.`);
        }
        const word = (index + FRAME_BYTES) >> 2;
        const parts = this.#inbox.take(memory.i32[word]!);
        const bytes = memory.i32[word + 1]!;
        if (bytes === IN_RECORD) {
          return decoder.all(memory, index + PLACEHOLDER_BYTES, end, count, parts);
        }
        const buffer = viewMemory(bufferOf(parts, bytes, this.#kinds));
        const values = decoder.all(buffer, 0, bytes, count, parts);
        decoder.forget();
        return values;
      }
      default:
        throw new ProtocolError(`Frame with unknown location ${locationOf(what)}.`);
    }
  }

  /** Drops the polled record at `index`, and the message it stands for: ports in it are closed. */
  discard(index: number): void {
    const { memory, end } = this.#rx;
    const what = memory.i32[(index >> 2) + WHAT_WORD]!;
    if (locationOf(what) !== PORT || end - index < PLACEHOLDER_BYTES) return;
    try {
      for (const part of this.#inbox.take(memory.i32[(index + FRAME_BYTES) >> 2]!)) close(part);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // What cannot be deserialized is dropped as well.
    }
  }

  /** Learns the shapes that the polled SHAPES record at `index` tells. */
  learnShapes(index: number, what: number): void {
    this.#shapes.learn(this.values(index, what)[0]);
  }
}

/** Whoever has the other end of a port that nobody gets is to hear of it. */
function close(part: unknown): void {
  if (typeof MessagePort === "function" && part instanceof MessagePort) part.close();
}
