/** The start data of workers that share no memory with their host (`lane/mirror/`). */
import {
  HOST_CONTROL_BYTES,
  laneBytes,
  REQUEST_RING,
  responseRing,
  type RingSizes,
} from "../lane/layout.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import type { WorkerStart } from "./start-data.ts";

type Memory =
  | "lane"
  | "hostControl"
  | "active"
  | "taskTimings"
  | "abortEpochs"
  | "metrics";

export type MirroredStart =
  & Omit<WorkerStart, Memory>
  & { readonly mirror: { readonly ringSizes: RingSizes; readonly timingBytes: number } };

const NO_MEMORY: Readonly<Record<Memory, undefined>> = {
  lane: undefined,
  hostControl: undefined,
  active: undefined,
  taskTimings: undefined,
  abortEpochs: undefined,
  metrics: undefined,
};

/** What is posted: numbers in place of memory. */
export function withoutMemory(start: WorkerStart, ringSizes: RingSizes): MirroredStart {
  const mirror = { ringSizes, timingBytes: start.taskTimings.byteLength };
  return { ...start, ...NO_MEMORY, mirror };
}

/** The worker's own memory. Only messages tell it of aborts, and nobody reads what it measures of single calls. */
export function withMemory(
  { mirror: { ringSizes, timingBytes }, ...others }: MirroredStart,
): WorkerStart {
  const lane = new SharedArrayBuffer(laneBytes(ringSizes));
  SpscRing.create(lane, REQUEST_RING, ringSizes.requests);
  SpscRing.create(lane, responseRing(ringSizes.requests), ringSizes.responses);
  return {
    ...others,
    lane,
    hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
    active: [AwakeCount.create()],
    taskTimings: new SharedArrayBuffer(timingBytes),
    abortEpochs: new SharedArrayBuffer(0),
    metrics: undefined,
  };
}
