/** The consumer of a ring that notes how far it has begun the records, for a host whose worker can end at any point. */
import { RingConsumer } from "../../../../ring/consumer.ts";

export class BegunConsumer extends RingConsumer {
  /** Called with the position behind a record before anything in it is used. Set before the first record. */
  onBegin!: (position: number) => void;

  override acquire(index: number): boolean {
    const isAcquired = super.acquire(index);
    if (isAcquired) this.onBegin((this.headPosition + this.end - index) | 0);
    return isAcquired;
  }
}
