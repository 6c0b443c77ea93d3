export interface Order {
  readonly id: number;
  readonly customer: string;
  readonly lines: readonly { readonly item: string; readonly price: number }[];
}

const ORDERS_PER_BLOCK = 250;

export function createOrder(id: number): Order {
  const lines = Array.from({ length: 3 }, (_, n) => ({ item: `item ${id + n}`, price: id % 100 }));
  return { id, customer: `customer ${id % 1000}`, lines };
}

export function createOrders(count: number): Order[] {
  return Array.from({ length: count }, (_, id) => createOrder(id));
}

export const stringify = (count: number): string => JSON.stringify(createOrders(count));

/** The same text, in blocks of some 32 KiB: neither side holds all of it, nor works on it without a pause. */
export function* stringifyInBlocks(count: number): Generator<string> {
  for (let from = 0; from < count; from += ORDERS_PER_BLOCK) {
    const length = Math.min(ORDERS_PER_BLOCK, count - from);
    const orders = Array.from({ length }, (_, n) => JSON.stringify(createOrder(from + n)));
    yield (from === 0 ? "[" : ",") + orders.join();
  }
  yield count === 0 ? "[]" : "]";
}

export function total(orders: readonly Order[]): number {
  let sum = 0;
  for (const { lines } of orders) for (const { price } of lines) sum += price;
  return sum;
}

/** Parses a body that arrives in pieces, and returns what the host wants to know of it. */
export async function totalOf(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return total(JSON.parse(text + decoder.decode()) as Order[]);
}
