/** A request of a worker. */
import type { RequestHeader } from "../../protocol/host-requests.ts";
import type { Lane } from "../lanes/lane.ts";

export interface HostRequest {
  readonly lane: Lane;
  readonly number: number;
  /** Whether the worker waits for the answer with its thread. */
  readonly isSync: boolean;
  /** The call that makes it, or NO_CALL, or UNKNOWN_CALL. */
  readonly slot: number;
  readonly generation: number;
  readonly header: RequestHeader;
  readonly args: unknown[];
}
