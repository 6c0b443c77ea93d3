/**
 * Which call makes a request, and whether the host waits for that while it blocks: the edges of the wait-for graph.
 * The host waits for its call; a call for those that it has made; a worker that waits with its thread holds up all that runs
 * there. docs/internals/host-requests.md explains it.
 */
import { Set } from "../../../../builtins.ts";
import { DeadlockError } from "../../../../errors.ts";
import { SLOT_WORD } from "../../../../lane/frame.ts";
import { NO_CALL, UNKNOWN_CALL } from "../messages.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { unclaimedCalls } from "../../../../host/schedule/revocation.ts";
import type { NestedCalls } from "./nested-calls.ts";
import type { HostRequest } from "./request.ts";

/** The call for which the host waits with its thread. */
export interface BlockedHost {
  readonly call: PendingCall;
  /** What waits, for messages, such as "pool.sync.f()". */
  readonly chain: string;
  /** Whether that call is settled: its slot may have another call. */
  readonly isOver: () => boolean;
  /** That in which it was made: a listener of the pool may block as well. */
  readonly outer: BlockedHost | undefined;
}

type Caller = Pick<HostRequest, "lane" | "slot" | "generation" | "isSync">;

/** Whether the host waits for something: it is not known if calls of the same worker cannot be told apart. */
export const NOT = 0;
export const MAYBE = 1;
export const SURELY = 2;
export type Certainty = typeof NOT | typeof MAYBE | typeof SURELY;

export class Callers {
  readonly #host: PoolParts;
  readonly #nested: NestedCalls;

  constructor(host: PoolParts, nested: NestedCalls) {
    this.#host = host;
    this.#nested = nested;
  }

  /** The call that makes a request; undefined: none, or it cannot be known; "over": it has ended. */
  of({ lane, slot, generation }: Omit<Caller, "isSync">): PendingCall | undefined | "over" {
    if (slot === NO_CALL) return undefined;
    if (slot === UNKNOWN_CALL) {
      const running = this.#runningIn(lane);
      return running.length === 1 ? running[0] : undefined;
    }
    const call = this.#host.dispatcher.inFlight.find(slot, generation);
    return call?.lane === lane.id ? call : "over";
  }

  /** Whether the host waits for what makes this request, which waits for the host. */
  isAwaited(caller: Caller, blocked: BlockedHost): Certainty {
    const seen = new Set<PendingCall>();
    const call = this.of(caller);
    const ofCall = call !== undefined
      ? call === "over" ? NOT : this.#isCallAwaited(call, blocked, seen)
      : caller.slot === UNKNOWN_CALL
      ? this.#isAnyAwaited(caller.lane, blocked, seen)
      : NOT;
    return caller.isSync && this.#isThreadAwaited(caller.lane, blocked, seen) ? SURELY : ofCall;
  }

  /** The error of a request for the host, which waits for its caller. */
  cycleError(request: HostRequest, blocked: BlockedHost): DeadlockError {
    const path = this.#pathOf(request, blocked);
    const reason = path === undefined
      ? `worker ${request.lane.id} would wait for the host with its thread, and the host waits for a call that this worker has to run, ` +
        "or for any worker."
      : "the host waits for that call with its thread, so it cannot run what this task waits for.";
    const names = [...path ?? [blocked.chain], describe(request)];
    return new DeadlockError(`${names.join(" → ")}: ${reason}`);
  }

  /** The same if that is not certain: nothing has happened in its worker for `waitedMs`. */
  unsureError(request: HostRequest, blocked: BlockedHost, waitedMs: number): DeadlockError {
    const others = this.#runningIn(request.lane).map((call) => this.#nameOf(call));
    return new DeadlockError(
      `${blocked.chain} → ${
        describe(request)
      }: the host waits for that call with its thread, and this request, which may be its own, has ` +
        `waited for the host for ${
          waitedMs / 1000
        } s. Which of the calls in worker ${request.lane.id} has made it (${
          others.join(", ")
        }) is not known: call currentPool() at the top level of the module of tasks.`,
    );
  }

  /** The error of a host that would wait for a call that no worker can begin, or none but those of `waits`. */
  stuckError(chain: string, waits?: HostRequest): DeadlockError {
    const who = waits === undefined
      ? "every worker of the pool waits"
      : `worker ${waits.lane.id}, which alone may run it, waits in ${describe(waits)}`;
    return new DeadlockError(
      `${chain}: ${who} for the host with its thread, so ${
        waits === undefined ? "none" : "it"
      } can${waits === undefined ? "" : "not"} run the task.`,
    );
  }

  /** The error of a host that would wait for workers that wait for it while they load their modules. */
  loadingError(chain: string, request: HostRequest): DeadlockError {
    return new DeadlockError(
      `${chain}: no worker is ready, and one that starts waits for ${
        describe(request)
      } while it loads its modules, which the host cannot run while it waits. Await pool.ready first.`,
    );
  }

  /** The error of a synchronous request for a task that no worker can run. */
  noWorkerError(request: HostRequest): DeadlockError {
    const path = [...this.#pathOf(request)!, describe(request)];
    return new DeadlockError(
      `${
        path.join(" → ")
      }: another worker has to run an async task, and every worker of the pool waits in this way. ` +
        "Await currentPool().call instead, or give the pool more threads.",
    );
  }

  /**
   * The names of the calls that a request belongs to, the outermost first; from that on for which the host waits, if it does.
   * Undefined: it does not wait for one of these.
   */
  #pathOf(request: Omit<Caller, "isSync">, blocked?: BlockedHost): string[] | undefined {
    const path: string[] = [];
    const caller = this.of(request);
    let call = caller === "over" ? undefined : caller;
    while (call !== undefined) {
      const awaiting = findBlocked(blocked, call);
      if (awaiting !== undefined) return [awaiting.chain, ...path];
      path.unshift(this.#nameOf(call));
      call = this.#nested.of(call)?.parent;
    }
    return blocked === undefined ? path : undefined;
  }

  #nameOf({ row }: PendingCall): string {
    const { sources } = this.#host.spec;
    return sources[(row - 1) % sources.length]?.name ?? "?";
  }

  #isCallAwaited(call: PendingCall, blocked: BlockedHost, seen: Set<PendingCall>): Certainty {
    if (findBlocked(blocked, call) !== undefined) return SURELY;
    const made = this.#nested.of(call);
    if (made === undefined || seen.has(call)) return NOT;
    seen.add(call);
    if (made.isSync && this.#isThreadAwaited(made.lane, blocked, seen)) return SURELY;
    if (made.parent !== undefined) return this.#isCallAwaited(made.parent, blocked, seen);
    return made.isParentUnknown ? this.#isAnyAwaited(made.lane, blocked, seen) : NOT;
  }

  /** Whether the host waits for the one of a worker's calls that makes a request. */
  #isAnyAwaited(lane: Lane, blocked: BlockedHost, seen: Set<PendingCall>): Certainty {
    const running = this.#runningIn(lane);
    const found = running.map((call) => this.#isCallAwaited(call, blocked, new Set(seen)));
    if (!found.some((certainty) => certainty > NOT)) return NOT;
    return found.every((certainty) => certainty === SURELY) ? SURELY : MAYBE;
  }

  /** Whether the host waits for a call that this worker runs, or that no other may run. */
  #isThreadAwaited(lane: Lane, blocked: BlockedHost, seen: Set<PendingCall>): boolean {
    const { pinned } = this.#host.dispatcher.waiting;
    for (let at: BlockedHost | undefined = blocked; at !== undefined; at = at.outer) {
      if (at.isOver()) continue;
      if (at.call.lane === lane.id || pinned?.mayRun(lane, at.call, true) === true) return true;
    }
    return this.#runningIn(lane).some((call) =>
      this.#isCallAwaited(call, blocked, seen) === SURELY
    );
  }

  /** The calls that a worker has begun and not answered. */
  #runningIn(lane: Lane): PendingCall[] {
    const { tx } = lane.endpoint;
    const waiting = new Set(
      unclaimedCalls(tx).map((index) => tx.memory.i32[(index >> 2) + SLOT_WORD]),
    );
    return this.#host.dispatcher.inFlight.callsOf(lane.id).filter(({ slot }) => !waiting.has(slot));
  }
}

/** The wait of the host for a call. */
function findBlocked(blocked: BlockedHost | undefined, call: PendingCall): BlockedHost | undefined {
  for (let at = blocked; at !== undefined; at = at.outer) {
    if (at.call === call && !at.isOver()) return at;
  }
  return undefined;
}

function describe({ isSync, header: [target, which] }: HostRequest): string {
  const way = isSync ? "sync" : "call";
  if (target === "task") return `currentPool().${way}.${which}()`;
  if (target === "function") return `host.${way}.${which}()`;
  return target === "object" ? "a method of an object" : `a ${target}`;
}
