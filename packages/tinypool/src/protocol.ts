/** What the program and its workers agree on. */

/** What a worker knows from its start on. */
export interface WorkerStart {
  readonly workerId: number;
  readonly runtime: "worker_threads" | "child_process";
  readonly workerData: unknown;
  readonly filename: string | null;
  readonly name: string;
  /** Whether results come as an `Outcome`. */
  readonly hasOutcomes: boolean;
  readonly isJson: boolean;
}

/** A result with what the pool has to know beside it. */
export interface Outcome {
  readonly result?: unknown;
  /** Of a process: the error as a plain object or a string. */
  readonly error: unknown;
  readonly usedMemory: number;
}

/** A message that travels as JSON. Bytes travel as they are: as JSON each of them would be a number in a list. */
export function packMessage(message: unknown, isJson: boolean): unknown {
  if (!isJson) return message;
  return ArrayBuffer.isView(message) ? message : JSON.stringify(message) ?? "null";
}

export function unpackMessage(packed: unknown, isJson: boolean): unknown {
  if (!isJson) return packed;
  if (typeof packed === "string") return JSON.parse(packed);
  const { buffer, byteOffset, byteLength } = packed as Uint8Array<ArrayBuffer>;
  return Buffer.from(buffer, byteOffset, byteLength);
}
