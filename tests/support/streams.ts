/** The surroundings of a stream's producer, all under the control of a test. */
import {
  type AnyIterator,
  type BatchWriter,
  type ProducerOptions,
  StreamProducer,
} from "../../src/features/calls/streams/stream-producer.ts";

export interface SentBatch {
  readonly items: readonly unknown[];
  readonly bytes: number;
}

export interface ProducerEnd {
  readonly isThrown: boolean;
  readonly value: unknown;
  readonly isOfReturn?: boolean;
}

/** A writer that keeps what it sends. `NaN` stands for an item that cannot be encoded. */
export class TestWriter implements BatchWriter {
  isFull = false;
  readonly sent: SentBatch[] = [];
  items: unknown[] = [];
  bytes = 0;
  discards = 0;
  /** Encoded bytes of an item. */
  sizeOf: (item: unknown) => number = () => 8;
  onAdd: (item: unknown) => void = () => {};
  onSend: (batch: SentBatch) => void = () => {};

  add(item: unknown): number {
    this.onAdd(item);
    if (Number.isNaN(item)) throw new TypeError("not cloneable");
    this.items.push(item);
    return this.bytes += this.sizeOf(item);
  }

  send(bytes: number): void {
    const batch = { items: this.items, bytes };
    this.discard();
    this.onSend(batch);
    this.sent.push(batch);
  }

  discard(): void {
    this.discards++;
    this.items = [];
    this.bytes = 0;
  }

  get sentItems(): unknown[] {
    return this.sent.flatMap(({ items }) => items);
  }
}

/** A producer whose macrotasks run when the test says so. */
export class TestProducer {
  readonly writer: TestWriter;
  readonly producer: StreamProducer;
  readonly macrotasks: (() => void)[] = [];
  readonly ends: ProducerEnd[] = [];
  readonly pauses: boolean[] = [];
  nowMs = 0;

  constructor(
    iterator: AnyIterator,
    highWaterMark = 4096,
    options: Partial<ProducerOptions> & { readonly writer?: TestWriter } = {},
  ) {
    this.writer = options.writer ?? new TestWriter();
    this.producer = new StreamProducer({
      iterator,
      highWaterMark,
      now: () => this.nowMs,
      macrotask: (callback) => void this.macrotasks.push(callback),
      run: (slice) => slice(),
      onPause: (isPaused) => this.pauses.push(isPaused),
      onEnd: (isThrown, value, isOfReturn) =>
        this.ends.push({ isThrown, value, ...(isOfReturn && { isOfReturn }) }),
      ...options,
      writer: this.writer,
    });
  }

  get isPaused(): boolean {
    return this.pauses.at(-1) === true;
  }

  /** Runs the macrotasks that wait and those that they add. */
  runMacrotasks(): void {
    for (let next = this.macrotasks.shift(); next !== undefined; next = this.macrotasks.shift()) {
      next();
    }
  }
}

/** Lets promises that have settled call their reactions. */
export async function settlePromises(): Promise<void> {
  for (let tick = 0; tick < 10; tick++) await Promise.resolve();
}
