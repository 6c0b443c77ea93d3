/** What WorkerLostError tells when the worker is a machine. */
import type { WorkerLoss } from "../errors.ts";

/** `machine`: its name, if it is known. */
export function lossOf(machine: string | undefined, reason: string): WorkerLoss {
  return { workerId: -1, ...(machine !== undefined && { machine }), exitCode: undefined, reason };
}
