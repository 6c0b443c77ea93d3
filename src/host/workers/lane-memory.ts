/**
 * Memory of lanes. What workers have left that ended by themselves is used for the next ones, in any pool of
 * this thread: shared memory is returned to the system late (engines do not count it when they decide to
 * collect, and the allocator keeps what it gets back). 300 pools one after the other, of one call each, grew by 55 MiB on
 * Node 26 without this and by 10 with it (`npm run test:leaks`).
 */
import { CONTROL_BYTES, laneBytes, type RingSizes } from "../../lane/layout.ts";

/** Memory kept at most, in bytes of address space: eight lanes with rings of the default size. */
const MAX_KEPT_BYTES = 72 * 2 ** 20;

/** By ring capacities. */
const kept = new Map<string, SharedArrayBuffer[]>();
let keptBytes = 0;

const keyOf = ({ requests, responses }: RingSizes): string => `${requests} ${responses}`;

/** Memory for a lane; its control words are zero, its rings are to be created. */
export function takeLaneMemory(sizes: RingSizes): SharedArrayBuffer {
  const memory = kept.get(keyOf(sizes))?.pop();
  if (memory === undefined) return new SharedArrayBuffer(laneBytes(sizes));
  keptBytes -= memory.byteLength;
  new Int32Array(memory, 0, CONTROL_BYTES / 4).fill(0);
  return memory;
}

/** Memory that nobody looks at any more: neither its host nor its worker, whose thread has come to its end. */
export function giveLaneMemory(memory: SharedArrayBuffer, sizes: RingSizes): void {
  if (keptBytes + memory.byteLength > MAX_KEPT_BYTES) return;
  const others = kept.get(keyOf(sizes));
  if (others === undefined) kept.set(keyOf(sizes), [memory]);
  else others.push(memory);
  keptBytes += memory.byteLength;
}
