/** A request of a worker. */
import type { CallExtra } from "../../../../host/calls/call-extra.ts";
import type { CallSettings } from "../../../../host/calls/call-settings.ts";
import type { CallerContext } from "../../../../host/calls/caller-context.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import type { RequestHeader } from "../messages.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

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
  /** What the call carries that makes it. */
  readonly extra: CallExtra | undefined;
  readonly callbacks: CallSettings["callbacks"];
  readonly context: CallerContext | undefined;
  /** The nested call to make. Undefined for others, and if the call that makes it has ended otherwise than by its result. */
  readonly nested: Nested | undefined;
}

/** A nested call that a worker has asked for. */
export interface Nested {
  readonly lane: Lane;
  readonly request: number;
  /** Whether the worker waits for it with its thread. */
  readonly isSync: boolean;
  /** The call that makes it, until that has ended; undefined: none. */
  parent: PendingCall | undefined;
  /** Whether any call of its worker may have made it. */
  readonly isParentUnknown: boolean;
  /** Its priority and its context, since the parent may have ended before the call is made. */
  readonly priority: number;
  readonly context: CallerContext | undefined;
  /** The parent has returned: nothing but its own limits ends the call. */
  isDetached: boolean;
  /** Set when it is made. */
  call: PendingCall | undefined;
  /** Why it is not to be made any more. */
  refusal: { readonly reason: unknown } | undefined;
  isOver: boolean;
}
