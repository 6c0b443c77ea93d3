/**
 * The consumer of a ring whose payloads come by events of a port (browsers): a record whose payload is not there yet counts as
 * not published. The event of the port makes its thread poll again.
 */
import { EMPTY, RingConsumer } from "../../../ring/consumer.ts";
import { DESCRIPTOR_WORD, FRAME_BYTES, locationOf, PORT } from "../../../lane/frame.ts";
import type { PayloadMessages } from "../../../lane/payload-port.ts";

export class GatedConsumer extends RingConsumer {
  /** Set before the first record. */
  messages!: Pick<PayloadMessages, "has">;

  override poll(): number {
    const index = super.poll();
    return index === EMPTY || this.#isComplete(index) ? index : EMPTY;
  }

  override get hasRecord(): boolean {
    if (!super.hasRecord) return false;
    try {
      return this.poll() !== EMPTY;
    } catch {
      return true; // the poll that follows reports the damage
    }
  }

  #isComplete(index: number): boolean {
    if (this.end - index <= FRAME_BYTES) return true;
    const { i32 } = this.memory;
    if (locationOf(i32[(index >> 2) + DESCRIPTOR_WORD]!) !== PORT) return true;
    return this.messages.has(i32[(index + FRAME_BYTES) >> 2]!);
  }
}
