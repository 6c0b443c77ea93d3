/**
 * Sends answers, and keeps those that find the response ring full in a backlog, in order.
 *
 * While there is a backlog the worker takes no further calls. The backlog is bounded all the same:
 * only async tasks in flight can add to it, and `maxConcurrency` bounds those.
 */
import { describeError, isError } from "../codec/fault.ts";
import { Endpoint, SENT } from "../endpoint/endpoint.ts";
import { CLONED, FAULT, INLINE, type Kind, RESULT, THROWN } from "../endpoint/frame.ts";
import { type Held, type Holder, RESULT_NAME } from "../endpoint/hold.ts";
import type { HostWaker } from "../park/host-word.ts";
import type { SpaceFlag } from "../park/space-flag.ts";

interface Reply {
  readonly kind: Kind;
  readonly slot: number;
  readonly generation: number;
  readonly held: Held;
}

export class Replies {
  readonly #endpoint: Endpoint;
  readonly #holder: Holder;
  readonly #hostWaker: HostWaker;
  readonly #spaceFlag: SpaceFlag;
  readonly #requestSpaceFlag: SpaceFlag;
  #backlog: Reply[] = [];

  constructor(
    endpoint: Endpoint,
    holder: Holder,
    hostWaker: HostWaker,
    spaceFlag: SpaceFlag,
    requestSpaceFlag: SpaceFlag,
  ) {
    this.#endpoint = endpoint;
    this.#holder = holder;
    this.#hostWaker = hostWaker;
    this.#spaceFlag = spaceFlag;
    this.#requestSpaceFlag = requestSpaceFlag;
  }

  /** Wake messages posted to the host so far. */
  get hostWakes(): number {
    return this.#hostWaker.posted;
  }

  get hasBacklog(): boolean {
    return this.#backlog.length > 0;
  }

  /** Whether the oldest reply of the backlog would fit now. */
  get hasSpace(): boolean {
    return this.#endpoint.tx.hasSpace(Endpoint.heldBytes(this.#backlog[0]!.held));
  }

  result(slot: number, generation: number, value: unknown): void {
    if (
      this.#backlog.length === 0 &&
      this.#endpoint.sendValue(RESULT, slot, generation, value) === SENT
    ) {
      this.#hostWaker.wake();
      return;
    }
    this.#sendHeld(RESULT, slot, generation, value);
  }

  /** The task threw: an error by its fields, anything else as it is. */
  thrown(slot: number, generation: number, reason: unknown): void {
    if (!isError(reason)) {
      this.#sendHeld(THROWN, slot, generation, reason);
      return;
    }
    const table = describeError(reason);
    const strings = Endpoint.inlineFault(table);
    const held = strings === undefined ? undefined : this.#holder.hold(strings);
    this.#send({
      kind: FAULT,
      slot,
      generation,
      held: held?.location === INLINE ? held : { location: CLONED, count: 1, payload: table },
    });
  }

  /** Sends what is in the backlog, as far as there is room. True: all of it. */
  flush(): boolean {
    let sent = 0;
    while (sent < this.#backlog.length && this.#trySend(this.#backlog[sent]!)) sent++;
    this.#backlog.splice(0, sent);
    return this.#backlog.length === 0;
  }

  /** Wakes the host if it waits for room in the request ring; after handing some back. */
  wakeForSpace(): void {
    if (this.#requestSpaceFlag.take()) this.#hostWaker.wake();
  }

  /** Asks the host for a wake when there is room; between announcing a park and looking again. */
  askForSpace(): void {
    if (this.#backlog.length > 0) this.#spaceFlag.raise();
  }

  #sendHeld(kind: typeof RESULT | typeof THROWN, slot: number, generation: number, value: unknown) {
    let held: Held;
    try {
      held = this.#holder.hold([value], RESULT_NAME); // runs the value's getters
    } catch (error) {
      this.thrown(slot, generation, error);
      return;
    }
    this.#send({ kind, slot, generation, held });
  }

  #send(reply: Reply): void {
    if (this.#backlog.length > 0 || !this.#trySend(reply)) this.#backlog.push(reply);
  }

  #trySend(reply: Reply): boolean {
    const { kind, slot, generation, held } = reply;
    try {
      if (!this.#endpoint.sendHeld(kind, slot, generation, 0, held)) return false;
    } catch (error) {
      // A runtime may clone what it then refuses to post (too deep a nesting). An error's table it
      // takes: if it does not, the loop ends the worker.
      if (kind === FAULT) throw error;
      this.#endpoint.tx.abort();
      this.thrown(slot, generation, error);
      return true;
    }
    this.#hostWaker.wake();
    return true;
  }
}
