/** A request of a worker. */
import type { CallSettings } from "../calls/call-settings.ts";
import type { CallerContext } from "../calls/caller-context.ts";
import type { RequestHeader } from "../../protocol/host-requests.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Nested } from "./nested-calls.ts";

/** A request as it arrives. */
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

/** With what it needs of the call that makes it. That may have ended when the request is handled: its response is behind it. */
export interface TakenRequest extends HostRequest {
  readonly callbacks: CallSettings["callbacks"];
  readonly context: CallerContext | undefined;
  /** The nested call to make. Undefined for others, and if the call that makes it has ended otherwise than by its result. */
  readonly nested: Nested | undefined;
}
