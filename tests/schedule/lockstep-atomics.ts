/**
 * `Atomics` of one thread of a lockstep run: every operation on memory that threads share is a step. `Atomics.wait`, `waitAsync`
 * and `notify` are a model with explicit first-in-first-out queues of waiters.
 */
import * as protocol from "./lockstep-protocol.ts";
import { real, Scheduler } from "./lockstep-scheduler.ts";
import type { Fault, Scenario } from "./scenarios.ts";

const { wordOf, TURN, STATE, ADDRESS, TICKET, OUTCOME } = protocol;

type Words = Int32Array<SharedArrayBuffer>;

/** What a killed thread throws at each operation. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** Sleeps that are shorter end by themselves, so they are pauses. */
const MIN_TIMEOUT_MS = 1;

export class Lockstep {
  readonly thread: number;
  readonly control: Words;
  /** Of this thread: passes with each timeout. */
  nowMs = 0;
  isDead = false;
  /** Resolves the outstanding `waitAsync`. */
  onAsyncWake: (() => void) | undefined;
  readonly #scheduler: Scheduler;
  #buffers: readonly SharedArrayBuffer[] = [];
  #fault: Fault | undefined;
  #isConstant: Scenario["isConstant"];
  #turn = 0;
  /** Changes before the last look began. */
  #lookedAt = 0;
  /** Operations are no steps until one changes something. */
  #isHushed = false;

  constructor(control: Words, thread: number) {
    this.control = control;
    this.thread = thread;
    this.#scheduler = new Scheduler(control, thread);
  }

  /** What the next runs perform. */
  use(buffers: readonly SharedArrayBuffer[], { fault, isConstant }: Scenario): void {
    this.#buffers = buffers;
    this.#fault = fault;
    this.#isConstant = isConstant;
  }

  awaitTurn(): void {
    const at = wordOf(this.thread, TURN);
    while (real.load(this.control, at) === this.#turn) real.wait(this.control, at, this.#turn);
    this.#turn = real.load(this.control, at);
  }

  /** At the first turn of a run, or the one in which a killed thread leaves its role. */
  begin(): void {
    this.isDead = this.#own(OUTCOME) === protocol.KILLED;
    this.nowMs = 0;
    this.#isHushed = false;
    this.onAsyncWake = undefined;
    this.#lookedAt = 0;
    if (!this.isDead) this.#log("start", 0);
  }

  /** Ends the part of this thread in a run. */
  finish(state: typeof protocol.FINISHED | typeof protocol.FAILED): void {
    if (this.isDead) {
      real.store(this.control, wordOf(this.thread, STATE), protocol.UNWOUND);
      real.notify(this.control, wordOf(this.thread, STATE));
    } else {
      this.control[wordOf(this.thread, STATE)] = state;
      this.#scheduler.pass();
    }
  }

  /** Says where this thread is, and waits until it is given its turn. */
  yieldWith(state: number): void {
    if (this.isDead) throw new Killed();
    this.control[wordOf(this.thread, STATE)] = state;
    if (!this.#scheduler.pass()) this.awaitTurn();
    this.isDead = this.#own(OUTCOME) === protocol.KILLED;
    if (this.isDead) throw new Killed();
  }

  /** Not runnable until another thread has taken a step. */
  pause(): void {
    this.#set(protocol.SINCE, this.control[protocol.CHOICES]!);
    this.yieldWith(protocol.PAUSED);
  }

  /** Not runnable until something has changed since the last look began, that is, since the end of the last sleep. */
  sleep(): void {
    this.#isHushed = false;
    this.#set(protocol.SINCE, this.#lookedAt);
    this.yieldWith(protocol.ASLEEP);
    this.#lookedAt = this.control[protocol.CHANGES]!;
  }

  /** Between two looks of a spin, in which no other thread can have changed anything: they are no steps while they change nothing. */
  hush(): void {
    this.#isHushed = true;
  }

  /** Until the mortal thread is dead or has finished. */
  awaitEnd(): void {
    this.#isHushed = false;
    this.yieldWith(protocol.AWAITS_END);
  }

  /** Waits for one of `events`, or the end of the `waitAsync`. "limit": a long timer fires. */
  awaitEvent(events: number): "async" | "due" | "limit" {
    this.#set(protocol.EVENTS, events);
    this.#set(protocol.SINCE, this.#lookedAt);
    this.#isHushed = false;
    this.yieldWith(protocol.IN_LOOP);
    this.#lookedAt = this.control[protocol.CHANGES]!;
    this.#log("event", 0);
    if (this.#take(OUTCOME) === protocol.TIMED_OUT) return "limit";
    if (this.#take(protocol.ASYNC_OUTCOME) !== protocol.NOTIFIED) return "due";
    this.onAsyncWake?.();
    return "async";
  }

  /** Waits for the turn to perform an operation, and logs it. */
  step(operation: protocol.OperationName, address = 0): void {
    this.#isHushed = false;
    this.yieldWith(protocol.AT_STEP);
    this.#log(operation, address);
  }

  /** Replaces the operations of `Atomics`. */
  install(): void {
    const load = (words: Words, index: number): number => {
      if (this.#isStep(words) && !this.#isQuiet(words, index)) {
        this.step("load", this.#keyOf(words, index));
      }
      return real.load(words, index);
    };
    const pause = (): void => this.pause();
    const { store, add, sub, and, or, exchange } = {
      store: this.#change("store", (_, value) => value),
      add: this.#change("add", (seen, value) => seen + value | 0),
      sub: this.#change("sub", (seen, value) => seen - value | 0),
      and: this.#change("and", (seen, value) => seen & value),
      or: this.#change("or", (seen, value) => seen | value),
      exchange: this.#change("exchange", (_, value) => value),
    };
    const compareExchange = (words: Words, index: number, expected: number, value: number) => {
      const isSkipped = this.#isSkipped("compareExchange", words, index);
      const changes = () => !isSkipped && words[index] === expected && value !== expected;
      if (this.#isStep(words, changes())) this.step("compareExchange", this.#keyOf(words, index));
      if (isSkipped) return real.load(words, index);
      if (changes()) this.control[protocol.CHANGES]!++;
      return real.compareExchange(words, index, expected, value);
    };
    const [wait, waitAsync, notify] = [this.#wait, this.#waitAsync, this.#notify];
    const replaced = { load, store, add, sub, and, or, exchange, compareExchange, pause };
    Object.assign(Atomics, replaced, { wait, waitAsync, notify });
  }

  #change(
    name: "store" | "add" | "sub" | "and" | "or" | "exchange",
    next: (seen: number, value: number) => number,
  ) {
    return (words: Words, index: number, value: number): number => {
      const isSkipped = this.#isSkipped(name, words, index);
      const changes = (): boolean => !isSkipped && next(words[index]!, value) !== words[index];
      if (this.#isStep(words, changes())) this.step(name, this.#keyOf(words, index));
      if (isSkipped) return real.load(words, index);
      if (changes()) this.control[protocol.CHANGES]!++;
      return real[name](words, index, value);
    };
  }

  readonly #wait = (words: Words, index: number, expected: number, timeout = Infinity) => {
    if (this.#bufferOf(words) < 0) return this.sleep(), "timed-out"; // no other thread has the word
    this.step("wait", this.#keyOf(words, index));
    if (real.load(words, index) !== expected) return "not-equal";
    if (timeout < MIN_TIMEOUT_MS) return this.sleep(), "timed-out";
    this.#set(ADDRESS, this.#keyOf(words, index));
    this.#set(TICKET, this.control[protocol.TICKETS]!++);
    this.yieldWith(timeout === Infinity ? protocol.BLOCKED : protocol.BLOCKED_WITH_TIMEOUT);
    if (this.#take(OUTCOME) !== protocol.TIMED_OUT) return "ok";
    this.nowMs += timeout;
    return "timed-out";
  };

  readonly #waitAsync = (words: Words, index: number, expected: number) => {
    this.step("waitAsync", this.#keyOf(words, index));
    if (real.load(words, index) !== expected) return { async: false, value: "not-equal" };
    if (this.#own(protocol.ASYNC_ADDRESS) !== 0) throw new Error("A second waitAsync at a time.");
    this.#set(protocol.ASYNC_ADDRESS, this.#keyOf(words, index));
    this.#set(protocol.ASYNC_TICKET, this.control[protocol.TICKETS]!++);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.onAsyncWake = () => resolve("ok");
    return { async: true, value: promise };
  };

  readonly #notify = (words: Words, index: number, count = Infinity): number => {
    const key = this.#keyOf(words, index);
    this.step("notify", key);
    if (this.#isSkipped("notify", words, index)) return 0;
    const { control } = this;
    const waiting: { ticket: number; wake: () => void }[] = [];
    for (let other = 0; other < control[protocol.THREADS]!; other++) {
      const state = control[wordOf(other, STATE)];
      const isBlocked = state === protocol.BLOCKED || state === protocol.BLOCKED_WITH_TIMEOUT;
      if (isBlocked && control[wordOf(other, ADDRESS)] === key) {
        const wake = (): void => {
          control[wordOf(other, OUTCOME)] = protocol.NOTIFIED;
          control[wordOf(other, STATE)] = protocol.WOKEN;
        };
        waiting.push({ ticket: control[wordOf(other, TICKET)]!, wake });
      }
      if (control[wordOf(other, protocol.ASYNC_ADDRESS)] === key && key !== 0) {
        const wake = (): void => {
          control[wordOf(other, protocol.ASYNC_ADDRESS)] = 0;
          control[wordOf(other, protocol.ASYNC_OUTCOME)] = protocol.NOTIFIED;
        };
        waiting.push({ ticket: control[wordOf(other, protocol.ASYNC_TICKET)]!, wake });
      }
    }
    waiting.sort((a, b) => a.ticket - b.ticket);
    const woken = waiting.slice(0, count);
    for (const { wake } of woken) wake();
    return woken.length;
  };

  /** Whether an operation is a step. `changes`: it changes the word. */
  #isStep(words: Words, changes = false): boolean {
    if (this.isDead) throw new Killed();
    if (this.#isHushed && !changes) return false;
    return this.#bufferOf(words) >= 0;
  }

  #isQuiet(words: Words, index: number): boolean {
    if (this.#isConstant === undefined) return false;
    const word = (words.byteOffset >> 2) + index;
    return this.#isConstant({ buffer: this.#bufferOf(words), word, thread: this.thread });
  }

  #isSkipped(operation: protocol.OperationName, words: Words, index: number): boolean {
    if (this.#fault === undefined) return false;
    const word = (words.byteOffset >> 2) + index;
    return this.#fault({ operation, buffer: this.#bufferOf(words), word, thread: this.thread });
  }

  #bufferOf({ buffer }: Words): number {
    return this.#buffers.indexOf(buffer);
  }

  #keyOf(words: Words, index: number): number {
    return this.#bufferOf(words) << protocol.ADDRESS_BITS | words.byteOffset + 4 * index;
  }

  #log(operation: protocol.OperationName, address: number): void {
    const at = protocol.logOf(this.control[protocol.STEPS]!++);
    this.control[at] = this.thread;
    this.control[at + 1] = protocol.OPERATIONS.indexOf(operation);
    this.control[at + 2] = address;
  }

  #own(field: number): number {
    return this.control[wordOf(this.thread, field)]!;
  }

  #set(field: number, value: number): void {
    this.control[wordOf(this.thread, field)] = value;
  }

  #take(field: number): number {
    const value = this.#own(field);
    this.#set(field, 0);
    return value;
  }
}
