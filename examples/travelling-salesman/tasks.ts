import { emit } from "heddle/task";

export interface City {
  readonly x: number;
  readonly y: number;
}

export interface Tour {
  readonly order: number[];
  readonly length: number;
}

/** A linear congruential generator: the same numbers for the same seed on every runtime. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

const distance = (a: City, b: City): number => Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2);

function shuffled(count: number, random: (below: number) => number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let at = count - 1; at > 0; at--) {
    const other = random(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}

/** Reverses parts of the tour while that makes it shorter. */
function improve(order: number[], cities: readonly City[]): void {
  const city = (at: number): City => cities[order[at % order.length]!]!;
  for (let isBetter = true; isBetter;) {
    isBetter = false;
    for (let from = 0; from < order.length - 1; from++) {
      for (let to = from + 2; to < order.length; to++) {
        const before = distance(city(from), city(from + 1)) + distance(city(to), city(to + 1));
        const after = distance(city(from), city(to)) + distance(city(from + 1), city(to + 1));
        if (after >= before - 1e-9) continue;
        const part = order.slice(from + 1, to + 1).reverse();
        order.splice(from + 1, part.length, ...part);
        isBetter = true;
      }
    }
  }
}

/** The best of several tours from random starts. Tells of each better one. */
export function bestTour(cities: readonly City[], seed: number, starts: number): Tour {
  const random = randomOf(seed);
  let best: Tour = { order: [], length: Infinity };
  for (let start = 0; start < starts; start++) {
    const order = shuffled(cities.length, random);
    improve(order, cities);
    const length = order.reduce(
      (sum, index, at) => sum + distance(cities[index]!, cities[order[(at + 1) % order.length]!]!),
      0,
    );
    if (length >= best.length - 1e-9) continue;
    best = { order, length };
    emit({ seed, length });
  }
  return best;
}
