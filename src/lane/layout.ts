/**
 * The shared memory of one lane (one worker): control lines, then its two rings.
 *
 *   byte
 *   0     parked       i32   sync/worker-parking.ts lists every edge
 *   128   wantsSpace   i32   sync/space-flag.ts lists every edge
 *   256   loopParks    i32   worker: odd while it waits in its event loop, from after its second check on,
 *                            but not while it sends an async response (the watchdog reads it)
 *   384   isClosing    i32   host 0→1, once: finish and exit; 0→2 or 1→2: the thread is being stopped. The
 *                            worker polls it while it waits for room: no order is needed there
 *   388   answers      i32   host: answers on the payload port so far; the worker waits on it for one (host-requests.md)
 *   512   waitsFor     i32   worker: the reason of its park (constants below); stored before it announces a
 *                            park, and when a response sent while parked has changed the reason. The host
 *                            reads it after the parked word
 *   516   backlog      i32   worker: responses that wait for room in the response ring; stored after each of
 *                            them is in the ring, or waits. The host's time limits read this, then the ring
 *   520   life         i32   worker: sets bits, never clears one: STARTED (or has failed to), ENDED, BEGUN. A host that blocks
 *                            reads them (SYNC(life)); one in its event loop gets messages, and reads BEGUN of an ended thread
 *   528   gauges       f64   worker: its sleep and memory, for statistics; stored when it goes to sleep, wakes, or has
 *                            measured its memory, with no order (worker-gauges.ts)
 *   640   requestSpace i32   host waits for room in the request ring, or for a worker with nothing to
 *                            do; edges: sync/space-flag.ts
 *   768   request ring       host produces, worker consumes (ring-layout.ts)
 *   …     response ring      worker produces, host consumes
 *
 * All lanes of a pool share one more line: parked (i32), edges in sync/host-parking.ts, and spins (i32), which the host alone
 * writes, with no order (sync/spin-policy.ts). The count of awake workers has memory of its own (sync/awake-count.ts).
 */
import { CACHE_LINE } from "../memory/align.ts";
import { ringBytes } from "../ring/ring-layout.ts";

/** Indices into the control Int32Array. */
export const PARKED_WORD = 0;
export const WANTS_SPACE: number = CACHE_LINE / 4;
export const LOOP_PARKS: number = (2 * CACHE_LINE) / 4;
export const IS_CLOSING: number = (3 * CACHE_LINE) / 4;
/** Values of IS_CLOSING: the worker exits when idle; its thread is being stopped, and its responses are not read. */
export const CLOSING = 1;
export const STOPPED = 2;

/** On the line of IS_CLOSING, which the host writes as well. */
export const ANSWERS: number = IS_CLOSING + 1;

export const WAITS_FOR: number = (4 * CACHE_LINE) / 4;

/** Values of WAITS_FOR: calls; room in its response ring; its own async tasks (maxConcurrency). */
export const FOR_CALLS = 0;
export const FOR_SPACE = 1;
export const FOR_TASKS = 2;

/** On the line of WAITS_FOR, as are the gauges: the worker writes all of it, and nothing while calls flow. */
export const RESPONSE_BACKLOG: number = WAITS_FOR + 1;

export const LIFE: number = WAITS_FOR + 2;
/** Bits of LIFE. */
export const STARTED = 1;
export const ENDED = 2;
export const BEGUN = 4;

export const REQUEST_SPACE: number = (5 * CACHE_LINE) / 4;

export const CONTROL_BYTES: number = 6 * CACHE_LINE;
export const REQUEST_RING: number = CONTROL_BYTES;

/** Capacities of a lane's rings, in bytes. */
export interface RingSizes {
  /**
   * Bytes of the request ring, a power of two.
   *
   * @default 4 MiB; 256 KiB without shared memory
   */
  readonly requests: number;
  /**
   * Bytes of the response ring, a power of two.
   *
   * @default 4 MiB; 256 KiB without shared memory
   */
  readonly responses: number;
}

/** Byte offset of the response ring behind a request ring of this capacity. */
export function responseRing(requestCapacity: number): number {
  return REQUEST_RING + ringBytes(requestCapacity);
}

/** Bytes of a whole lane. */
export function laneBytes({ requests, responses }: RingSizes): number {
  return responseRing(requests) + ringBytes(responses);
}

/** The pool's own shared words, in a buffer of their own. */
export const HOST_PARKED_WORD = 0;
/** 1: threads that wait spin. */
export const HOST_SPINS = 1;
export const HOST_CONTROL_BYTES: number = CACHE_LINE;
