/** Which call makes a request, and what that means while the host blocks. */
import { Set } from "../../builtins.ts";
import { DeadlockError } from "../../errors.ts";
import { SLOT_WORD } from "../../lane/frame.ts";
import { NO_CALL, UNKNOWN_CALL } from "../../protocol/host-requests.ts";
import type { InFlight, PendingCall } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";
import { unclaimedCalls } from "../schedule/work-stealing.ts";
import type { NestedCalls } from "./nested-calls.ts";
import type { HostRequest } from "./request.ts";

/** The call for which the host waits with its thread. */
export interface BlockedHost {
  readonly call: PendingCall;
  /** What waits, for messages, such as "pool.sync.f()". */
  readonly chain: string;
}

type Caller = Pick<HostRequest, "lane" | "slot" | "generation">;

export class Callers {
  readonly #inFlight: InFlight;
  readonly #nested: NestedCalls;
  readonly #nameOf: (task: number) => string;

  constructor(inFlight: InFlight, nested: NestedCalls, nameOf: (task: number) => string) {
    this.#inFlight = inFlight;
    this.#nested = nested;
    this.#nameOf = nameOf;
  }

  /** The call that makes a request; undefined: none, or it cannot be known; "over": it has ended. */
  of({ lane, slot, generation }: Caller): PendingCall | undefined | "over" {
    if (slot === NO_CALL) return undefined;
    if (slot === UNKNOWN_CALL) {
      const running = this.#runningIn(lane);
      return running.length === 1 ? running[0] : undefined;
    }
    const call = this.#inFlight.find(slot, generation);
    return call?.lane === lane.id ? call : "over";
  }

  /** Whether a request is made by the call for which the host waits, or by one that this waits for. */
  isWithin(caller: Caller, blocked: BlockedHost): boolean {
    const call = this.of(caller);
    if (call === "over") return false;
    if (call !== undefined) return this.#descendsFrom(call, blocked);
    return caller.slot === UNKNOWN_CALL &&
      this.#runningIn(caller.lane).some((running) => this.#descendsFrom(running, blocked));
  }

  /** The error of a request for the host, which waits for its caller. */
  cycleError(request: HostRequest, blocked: BlockedHost): DeadlockError {
    const path = [blocked.chain, ...this.#pathOf(request, blocked), describe(request)];
    return new DeadlockError(
      `${
        path.join(" → ")
      }: the host waits for that call with its thread, so it cannot run what this task waits for.`,
    );
  }

  /** The error of a host that would wait for a call that no worker can begin. */
  stuckError(chain: string): DeadlockError {
    return new DeadlockError(
      `${chain}: every worker of the pool waits for the host with its thread, so none can run the task.`,
    );
  }

  /** The error of a synchronous request for a task that no worker can run. */
  noWorkerError(request: HostRequest): DeadlockError {
    const path = [...this.#pathOf(request), describe(request)];
    return new DeadlockError(
      `${
        path.join(" → ")
      }: another worker has to run an async task, and every worker of the pool waits in this way. ` +
        "Await currentPool().call instead, or give the pool more threads.",
    );
  }

  /** The names of the calls that a request belongs to, the outermost first, without that for which the host waits. */
  #pathOf(request: Caller, blocked?: BlockedHost): string[] {
    const path: string[] = [];
    const caller = this.of(request);
    let call = caller === "over" ? undefined : caller;
    while (call !== undefined && call !== blocked?.call) {
      path.unshift(this.#nameOf(call.row - 1));
      call = this.#nested.parentOf(call);
    }
    return path;
  }

  #descendsFrom(call: PendingCall, blocked: BlockedHost): boolean {
    for (let at: PendingCall | undefined = call; at !== undefined; at = this.#nested.parentOf(at)) {
      if (at === blocked.call) return true;
    }
    return false;
  }

  /** The calls that a worker has begun and not answered. */
  #runningIn(lane: Lane): PendingCall[] {
    const { tx } = lane.endpoint;
    const waiting = new Set(
      unclaimedCalls(tx).map((index) => tx.memory.i32[(index >> 2) + SLOT_WORD]),
    );
    return this.#inFlight.callsOf(lane.id).filter(({ slot }) => !waiting.has(slot));
  }
}

function describe({ isSync, header: [target, which] }: HostRequest): string {
  const way = isSync ? "sync" : "call";
  if (target === "task") return `currentPool().${way}.${which}()`;
  return target === "function" ? `host.${way}.${which}()` : "a callback";
}
