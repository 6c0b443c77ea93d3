import type { Barrier, SharedVector } from "heddle/shared";

export interface Search {
  readonly size: number;
  readonly distances: SharedVector<"u32">;
  readonly queue: SharedVector<"u32">;
  readonly barrier: Barrier;
  /** This worker takes each square of the queue whose index modulo `parts` is `part`. */
  readonly part: number;
  readonly parts: number;
}

const MOVES = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]] as const;

/** One worker's part of the search; returns the number of squares that it was the first to visit. */
export function visit({ size, distances, queue, barrier, part, parts }: Search): number {
  let visited = 0;
  let start = 0;
  for (let distance = 2; start < queue.length; distance++) {
    const end = queue.length; // the squares from `start` to `end` have the same distance
    barrier.waitSync(); // until all workers have read the length
    for (let at = start; at < end; at++) {
      if (at % parts !== part) continue;
      for (const square of neighborsOf(queue.at(at)!, size)) {
        if (distances.atomic.compareExchange(square, 0, distance) !== 0) continue;
        queue.push(square);
        visited++;
      }
    }
    barrier.waitSync(); // until all neighbors are in the queue
    start = end;
  }
  barrier.leave();
  return visited;
}

function neighborsOf(square: number, size: number): number[] {
  const x = square % size;
  const y = Math.floor(square / size);
  return MOVES.map(([right, down]) => [x + right, y + down] as const)
    .filter(([x, y]) => x >= 0 && x < size && y >= 0 && y < size)
    .map(([x, y]) => y * size + x);
}
