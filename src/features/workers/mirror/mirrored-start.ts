/** The start data of workers that share no memory with their host (`features/workers/mirror/`). */
import {
  HOST_CONTROL_BYTES,
  laneBytes,
  REQUEST_RING,
  responseRing,
  type RingSizes,
} from "../../../lane/layout.ts";
import { SpscRing } from "../../../ring/spsc-ring.ts";
import { AwakeCount } from "../../../sync/awake-count.ts";
import type { WorkerStart } from "../../../protocol/start-data.ts";

/** Start data of the feature. */
export interface MirrorData {
  readonly ringSizes: RingSizes;
  readonly timingBytes: number;
}

type Memory = "lane" | "hostControl" | "active" | "taskTimings";

/** Start data that is posted: numbers in place of memory. */
export type MirroredStart = Omit<WorkerStart, Memory> & {
  readonly active?: WorkerStart["active"] | undefined;
};

const NO_MEMORY: Readonly<Record<Memory, undefined>> = {
  lane: undefined,
  hostControl: undefined,
  active: undefined,
  taskTimings: undefined,
};

/** `sharesWords`: between threads that could share memory, what counts them is shared, by which `heddle/shared` knows them. */
export function withoutMemory(
  start: WorkerStart,
  ringSizes: RingSizes,
  sharesWords: boolean,
): MirroredStart {
  const shared = Object.entries(start.features).filter(([, data]) =>
    data instanceof SharedArrayBuffer
  );
  const none = Object.fromEntries(shared.map(([name]) => [name, undefined]));
  const mirror: MirrorData = { ringSizes, timingBytes: start.taskTimings.byteLength };
  return {
    ...start,
    ...NO_MEMORY,
    ...(sharesWords && { active: start.active }),
    features: { ...start.features, ...none, mirror },
  };
}

/** The worker's own memory. Features get none: only messages tell it of aborts. */
export function withMemory(
  start: MirroredStart,
  { ringSizes, timingBytes }: MirrorData,
): WorkerStart {
  const lane = new SharedArrayBuffer(laneBytes(ringSizes));
  SpscRing.create(lane, REQUEST_RING, ringSizes.requests);
  SpscRing.create(lane, responseRing(ringSizes.requests), ringSizes.responses);
  return {
    ...start,
    lane,
    hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
    active: start.active ?? [AwakeCount.create()],
    taskTimings: new SharedArrayBuffer(timingBytes),
  };
}
