/**
 * Memory of lanes. The memory of workers that ended by themselves is reused for later ones, in any pool of this
 * thread. Shared memory is returned to the system late: engines do not count it when they decide to collect, and
 * the allocator keeps what is returned. 300 pools one after the other, of one call each, grew by 55 MiB on Node 26
 * without this and by 10 with it (`npm run test:leaks`).
 */
import { Map } from "../../builtins.ts";
import { CONTROL_BYTES, laneBytes, type RingSizes } from "../../lane/layout.ts";

/** Maximum of memory kept, in bytes of address space: eight lanes with rings of the default size. */
const MAX_KEPT_BYTES = 72 * 2 ** 20;

/** By ring capacities. */
const kept = new Map<string, SharedArrayBuffer[]>();
let keptBytes = 0;

/** Memory for a lane. Its control words are zero; the caller creates its rings. */
export function takeLaneMemory(sizes: RingSizes): SharedArrayBuffer {
  const memory = kept.get(`${sizes.requests} ${sizes.responses}`)?.pop();
  if (memory === undefined) return new SharedArrayBuffer(laneBytes(sizes));
  keptBytes -= memory.byteLength;
  new Int32Array(memory, 0, CONTROL_BYTES / 4).fill(0);
  return memory;
}

/** Keeps memory for reuse. Neither host nor worker may use it any more: the worker's thread has ended. */
export function giveLaneMemory(memory: SharedArrayBuffer, sizes: RingSizes): void {
  if (keptBytes + memory.byteLength > MAX_KEPT_BYTES) return;
  const key = `${sizes.requests} ${sizes.responses}`;
  const others = kept.get(key);
  if (others === undefined) kept.set(key, [memory]);
  else others.push(memory);
  keptBytes += memory.byteLength;
}
