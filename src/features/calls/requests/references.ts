/**
 * What a task may call for longer than its own call: listeners, and objects that live in workers. They are sent as numbers, and a pool
 * that has sent one keeps what it stands for until that has ended.
 */
import { Set, WeakMap } from "../../../builtins.ts";
import { setBrand } from "../../../codec/support/brands.ts";
import type { Reject, Resolve } from "../../../host/calls/call-extra.ts";
import type { AnyCallback } from "./callback-value.ts";

/** Kinds of STREAM: the task gets a function, or an object whose methods it calls. */
export const LISTENER_KIND = 3;
export const OBJECT_KIND = 4;
export type ReferenceKind = typeof LISTENER_KIND | typeof OBJECT_KIND;

/** The references that a pool has sent, by number, with what stands for them: a worker may have them, so that it is not collected. */
export type SentReferences = Map<number, readonly [Reference, value: object]>;

let lastNumber = 0;

/** A number that no reference of this thread has. */
export const nextNumber = (): number => ++lastNumber;

/** Calls a method of an object. The first argument is its name. Runs no user code. Throws if it makes no call. */
export type CallObject = (args: readonly unknown[], resolve: Resolve, reject: Reject) => void;

export class Reference {
  readonly kind: ReferenceKind;
  readonly number: number;
  /** What a call of it does. Does not refer to what stands for it, which may be collected. */
  readonly f: AnyCallback | CallObject;
  /** Whether a call of it is sent at once. Otherwise that takes turns of the event loop. */
  readonly isReady: () => boolean;
  readonly #holders = new Set<SentReferences>();
  #isOver = false;

  constructor(kind: typeof LISTENER_KIND, f: AnyCallback);
  constructor(
    kind: typeof OBJECT_KIND,
    f: CallObject,
    number: number,
    isReady: () => boolean,
  );
  constructor(
    kind: ReferenceKind,
    f: AnyCallback | CallObject,
    number: number = nextNumber(),
    isReady: () => boolean = () => true,
  ) {
    this.isReady = isReady;
    this.kind = kind;
    this.number = number;
    this.f = f;
  }

  keepIn(references: SentReferences, value: object): void {
    if (this.#isOver) return;
    references.set(this.number, [this, value]);
    this.#holders.add(references);
  }

  /** The pool of these has ended. */
  leave(references: SentReferences): void {
    this.#holders.delete(references);
  }

  /** Later calls find nothing. */
  end(): void {
    this.#isOver = true;
    for (const references of this.#holders) references.delete(this.number);
    this.#holders.clear();
  }
}

/** By what stands for them on the host. */
const references = new WeakMap<object, Reference>();

/** From now on `value` may be among the arguments of calls. */
export function setReference(value: object, reference: Reference): void {
  setBrand(value, "reference");
  references.set(value, reference);
}

/** Undefined also for what another copy of heddle has made. */
export function referenceOf(value: object): Reference | undefined {
  return references.get(value);
}
