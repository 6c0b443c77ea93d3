/** Objects as programs send them: a user, a table, a graph, an error. */

/** About 200 bytes of JSON: strings, a nested object, a small array. */
export function user(variant: number): Record<string, unknown> {
  return {
    id: 100_000 + variant,
    name: `Ada Lovelace ${variant}`,
    email: `ada.${variant}@analytical.example`,
    isActive: variant % 2 === 0,
    score: variant + 0.25,
    address: { street: `${variant} St James's Square`, city: "London", zip: "SW1Y 4JH" },
    tags: ["staff", `group-${variant}`, "reports"],
  };
}

/** Eight numbers by name: what a struct declares. */
export function particle(variant: number): Record<string, number> {
  return {
    x: variant + 0.5,
    y: variant + 1.5,
    z: variant + 2.5,
    velocityX: 0.5 - variant,
    velocityY: variant / 3,
    velocityZ: variant / 7,
    mass: 1 + variant / 64,
    charge: variant % 3 - 1,
  };
}

export function records(count: number, variant: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, row) => ({
    id: 1000 * variant + row,
    sku: `A-${variant}-${row}`,
    title: `Item ${row} of order ${variant}`,
    quantity: (row + variant) % 12,
    price: row + variant / 100,
    isShipped: (row + variant) % 3 === 0,
  }));
}

/** Whole numbers and halves. */
export function numbers(count: number, variant: number): number[] {
  return Array.from({ length: count }, (_, index) => (index + variant) / 2);
}

export function points(count: number, variant: number): { x: number; y: number }[] {
  return numbers(count, variant).map((x, index) => ({ x, y: x + index }));
}

export function words(count: number, variant: number): string[] {
  return Array.from({ length: count }, (_, index) => `word ${index + variant}`);
}

/** As a program counts words: one key after the other. */
export function dictionary(count: number, variant: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [index, word] of words(count, variant).entries()) counts[word] = index;
  return counts;
}

export function dates(count: number, variant: number): Date[] {
  const first = Date.UTC(2026, 0, 1) + variant;
  return Array.from({ length: count }, (_, day) => new Date(first + 86_400_000 * day));
}

export function numberMap(count: number, variant: number): Map<string, number> {
  return new Map(numbers(count, variant).map((value, index) => [`key-${index}`, value]));
}

interface GraphNode {
  readonly id: number;
  readonly label: string;
  readonly links: GraphNode[];
}

/** A ring of nodes, each linked to its neighbours and to the first. */
export function cyclicGraph(count: number, variant: number): GraphNode {
  const nodes = Array.from({ length: count }, (_, id): GraphNode => ({
    id,
    label: `node ${id} of ${variant}`,
    links: [],
  }));
  for (const [id, { links }] of nodes.entries()) {
    links.push(nodes[(id + 1) % count]!, nodes[(id + count - 1) % count]!, nodes[0]!);
  }
  return nodes[0]!;
}

export function errorWithCause(variant: number): Error {
  return new TypeError(`request ${variant} failed`, {
    cause: new Error(`socket ${variant} closed`),
  });
}
