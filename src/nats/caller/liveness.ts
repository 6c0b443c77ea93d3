/**
 * Notices lost machines and lost messages. Machines are asked about calls that take longer than the interval, so short
 * calls cost nothing. A machine that does not answer several times is lost, with all of its calls; so is a call that
 * no machine has accepted, or that its machine no longer has.
 */
import { Map } from "../../builtins.ts";
import type { RemoteCall } from "./remote-call.ts";

export interface LivenessOptions {
  readonly intervalMs: number;
  /** Checks in a row without an answer after which a machine is lost. */
  readonly checks: number;
  readonly calls: ReadonlyMap<string, RemoteCall>;
  readonly probe: (machine: number, tokens: readonly string[]) => void;
  /** `machine`: its name, if it is known. */
  readonly lose: (call: RemoteCall, reason: string, machine: string | undefined) => void;
  /** The time at the start. */
  readonly now: number;
}

interface KnownMachine {
  name: string | undefined;
  heardAt: number;
  unanswered: number;
}

/** Answers in a row that do not name a call after which its response is lost. The first may have crossed with it. */
const TIMES_MISSING = 2;
/** Asks all machines at once. */
export const EVERY_MACHINE = 0;
/** Silent machines without calls are forgotten after this many intervals. */
const FORGOTTEN_AFTER = 60;

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #machines = new Map<number, KnownMachine>();
  /** Name of the machine that was lost last, and when. */
  #lastLost: { readonly name: string | undefined; readonly at: number } | undefined;
  #lost = 0;
  #checkedAt: number;
  #wasLate = false;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#checkedAt = options.now;
  }

  /** The name of a machine; undefined if it is not known. */
  nameOf(id: number): string | undefined {
    return this.#machines.get(id)?.name;
  }

  get machines(): number {
    return this.#machines.size;
  }

  get machinesLost(): number {
    return this.#lost;
  }

  /** A message of this machine has arrived. */
  heard(id: number, now: number): void {
    const machine = this.#machines.get(id);
    if (machine !== undefined) {
      machine.heardAt = now;
      machine.unanswered = 0;
      return;
    }
    this.#machines.set(id, { name: undefined, heardAt: now, unanswered: 0 });
    this.#options.probe(id, []); // learns its name
  }

  /** The machine has these calls. */
  accepted(id: number, name: string, tokens: readonly string[]): void {
    this.#name(id, name);
    for (const token of tokens) {
      const call = this.#options.calls.get(token);
      if (call === undefined) continue;
      call.timesMissing = 0;
      call.machine = id;
    }
  }

  /** The machine lives, but does not have these calls. It tells of those that it has by `accepted`. */
  alive(id: number, name: string, missing: readonly string[]): void {
    this.#name(id, name);
    for (const token of missing) {
      const call = this.#options.calls.get(token);
      if (call?.machine !== id || ++call.timesMissing < TIMES_MISSING) continue;
      this.#options.lose(call, "its response was lost on the way", name);
    }
  }

  #name(id: number, name: string): void {
    const machine = this.#machines.get(id);
    if (machine !== undefined) machine.name = name;
  }

  check(now: number): void {
    const { intervalMs, checks, calls } = this.#options;
    // This process was suspended or blocked, and answers may wait to be read. One that is always late must notice losses too.
    const isLate = !this.#wasLate && now - this.#checkedAt > 2 * intervalMs;
    this.#checkedAt = now;
    this.#wasLate = isLate;
    if (isLate) return;
    const overdue = new Map<number, string[]>();
    const unclaimed: string[] = [];
    for (const [token, call] of calls) {
      if (call.sentAt === 0 || now - call.sentAt < intervalMs) continue;
      if (call.machine === 0) unclaimed.push(token);
      else overdue.set(call.machine, [...overdue.get(call.machine) ?? [], token]);
    }
    let isSilent = false;
    for (const [id, machine] of this.#machines) {
      if (machine.unanswered >= checks) this.#loseMachine(id, machine, now);
      else if (overdue.has(id) || unclaimed.length > 0) {
        isSilent ||= machine.unanswered > 0;
        machine.unanswered++;
        if (overdue.has(id)) this.#options.probe(id, overdue.get(id)!);
      } else if (now - machine.heardAt > FORGOTTEN_AFTER * intervalMs) this.#machines.delete(id);
    }
    this.#checkUnclaimed(unclaimed, isSilent, now);
  }

  /** Calls that no machine has accepted: any machine may have them, also one that has never been heard. */
  #checkUnclaimed(tokens: readonly string[], isSilent: boolean, now: number): void {
    const left: string[] = [];
    for (const token of tokens) {
      const call = this.#options.calls.get(token);
      if (call === undefined) continue;
      // While a machine is silent it may have the call; either it answers or it is lost.
      if (++call.timesMissing <= this.#options.checks || isSilent) left.push(token);
      else this.#options.lose(call, "no machine has it", this.#suspect(now));
    }
    if (left.length > 0) this.#options.probe(EVERY_MACHINE, left);
  }

  #loseMachine(id: number, machine: KnownMachine, now: number): void {
    this.#machines.delete(id);
    this.#lost++;
    const { name } = machine;
    this.#lastLost = { name, at: now };
    for (const call of this.#options.calls.values()) {
      if (call.machine !== id || call.sentAt === 0) continue;
      const silentMs = Math.round(now - machine.heardAt);
      this.#options.lose(call, `it has not answered for ${silentMs} ms`, name);
    }
  }

  /** The machine that most likely had a call which none has: one that was lost lately. */
  #suspect(now: number): string | undefined {
    const { intervalMs, checks } = this.#options;
    const lost = this.#lastLost;
    const isRecent = lost !== undefined && now - lost.at < 2 * checks * intervalMs;
    return isRecent ? lost.name : undefined;
  }
}
