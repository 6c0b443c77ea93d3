/** Locks of several threads against a simple model: random requests, releases, limits and deaths. */
import { describe, expect, test } from "vitest";
import { Gate, GATE_BYTES, MAX_PERMITS } from "../../../src/shared/locks/gate.ts";
import { type Kind, ObjectMemory } from "../../../src/shared/memory.ts";
import { createRandom, upTo } from "../../support/random.ts";
import { type SimulatedThread, SimulatedThreads } from "../../support/shared-threads.ts";

interface Waiter {
  readonly member: Member;
  readonly place: number;
  readonly permits: number;
  readonly recovers: boolean;
}

interface Member {
  thread: SimulatedThread;
  gate: Gate;
  /** Requests that it holds. */
  held: number[];
}

/** A gate of a kind, and what should be true of it. */
class GateModel {
  readonly members: Member[];
  readonly threads = new SimulatedThreads();
  /** In order of arrival. */
  waiting: Waiter[] = [];
  isPoisoned = false;
  readonly #memory: ObjectMemory;
  readonly #kind: Kind;
  readonly #capacity: number;

  constructor(kind: Kind, capacity: number) {
    this.#kind = kind;
    this.#capacity = capacity;
    this.#memory = ObjectMemory.create(kind, GATE_BYTES, this.threads.main.thread);
    Gate.initialize(this.#memory, capacity, kind === "semaphore" ? 0 : capacity);
    this.members = Array.from({ length: 4 }, () => this.#begin());
  }

  #begin(): Member {
    const thread = this.threads.start();
    return {
      thread,
      gate: new Gate(thread.adopt(this.#kind, this.#memory.buffer), this.#kind),
      held: [],
    };
  }

  get taken(): number {
    return this.members.flatMap(({ held }) => held).reduce((sum, each) => sum + each, 0);
  }

  request(member: Member, permits: number, recovers: boolean): void {
    const { outcome, place } = member.gate.arrive(permits, recovers)!;
    const isFree = this.waiting.length === 0 && this.taken + permits <= this.#capacity;
    if (this.isPoisoned && !recovers) expect(outcome).toBe("poisoned");
    else if (!isFree) {
      expect(outcome).toBe("busy");
      this.waiting.push({ member, place, permits, recovers });
    } else {
      expect(outcome).toBe(this.isPoisoned ? "recovered" : "held");
      this.isPoisoned = false;
      member.held.push(permits);
    }
  }

  release(member: Member): void {
    const permits = member.held.pop();
    if (permits === undefined) return;
    member.gate.release(permits);
    this.grant();
  }

  abandon(waiter: Waiter): void {
    waiter.member.gate.abandon(waiter.place, waiter.permits);
    this.waiting = this.waiting.filter((each) => each !== waiter);
    this.grant();
  }

  /** The thread dies, and another comes in its place. */
  kill(index: number): void {
    const member = this.members[index]!;
    const { held } = member;
    this.isPoisoned ||= this.#kind !== "semaphore" && held.includes(this.#capacity);
    this.members[index] = this.#begin(); // of another record
    member.thread.die();
    this.waiting = this.waiting.filter((each) => each.member !== member);
    this.grant();
  }

  /** Those that should be called or refused are, in order, and no others. */
  grant(): void {
    const answered: [Waiter, "poisoned" | "called"][] = [];
    let { taken } = this;
    for (let waiter = this.waiting[0]; waiter !== undefined; waiter = this.waiting[0]) {
      const isRefused = this.isPoisoned && !waiter.recovers;
      if (!isRefused && taken + waiter.permits > this.#capacity) break;
      if (!isRefused) taken += waiter.permits;
      answered.push([waiter, isRefused ? "poisoned" : "called"]);
      this.waiting.shift();
    }
    for (const { member, place, permits } of this.waiting) {
      if (member.gate.isCalled(place)) expect(member.gate.settle(place, permits)).toBe("busy");
    }
    for (const [{ member, place, permits }, answer] of answered) {
      expect(member.gate.isCalled(place)).toBe(true);
      const called = this.isPoisoned ? "recovered" : "held";
      expect(member.gate.settle(place, permits)).toBe(answer === "called" ? called : answer);
      if (answer === "poisoned") continue;
      this.isPoisoned = false;
      member.held.push(permits);
    }
  }

  check(): void {
    for (const { gate, held } of this.members) {
      expect(gate.own).toBe(held.reduce((sum, each) => sum + each, 0));
    }
    const { gate } = this.members[0]!;
    expect([gate.available, gate.isPoisoned]).toEqual([
      this.#capacity - this.taken,
      this.isPoisoned,
    ]);
  }
}

describe.each([["mutex", 1], ["rwLock", MAX_PERMITS], ["semaphore", 5]] as const)(
  "a %s",
  (kind, capacity) => {
    test.each([1, 2, 3])("is what its model is (%d)", (seed) => {
      const random = createRandom(seed);
      const model = new GateModel(kind, capacity);
      const permitsOf = () =>
        kind === "semaphore" ? 1 + upTo(random, 4) : random() < 0.7 ? 1 : capacity;
      for (let step = 0; step < 1500; step++) {
        const index = upTo(random, 3);
        const member = model.members[index]!;
        const action = random();
        if (action < 0.45) model.request(member, permitsOf(), random() < 0.5);
        else if (action < 0.85) model.release(member);
        else if (action < 0.95 && model.waiting.length > 0) {
          model.abandon(model.waiting[upTo(random, model.waiting.length - 1)]!);
        } else if (action > 0.97) model.kill(index);
        model.check();
      }
    });
  },
);
