/**
 * Handles: objects of this thread over a buffer that all threads see. A handle that is sent arrives as a handle: the codec
 * sends an object with the key HANDLE as its kind and its buffer, and asks `globalThis` for the other way (features/values/rare/handles.ts).
 */
import { Error } from "../builtins.ts";
import { HANDLE, type HandleParts } from "../realm/handles.ts";
import { printAs } from "../runtimes/printed.ts";
import { type Kind, KINDS, ObjectMemory } from "./memory.ts";
import { thisThread } from "./threads/this-thread.ts";
import { Uncloneable } from "./uncloneable.ts";

/** What the codec takes for a handle. */
export interface SharedHandle {
  /** What it sends. */
  readonly [HANDLE]: HandleParts;
}

type Make = (memory: ObjectMemory, detail: string) => object;
const makers: Partial<Record<Kind, Make>> = {};

/** Says how handles of a kind are made of memory. */
export function registerHandle(kind: Kind, make: Make): void {
  makers[kind] = make;
}

/** The handle of a buffer. `kind` may have a detail after a colon, for the maker. */
export function makeHandle(kind: string, buffer: SharedArrayBuffer): object {
  const colon = kind.indexOf(":");
  const name = colon < 0 ? kind : kind.slice(0, colon);
  const detail = colon < 0 ? "" : kind.slice(colon + 1);
  const make = makers[name as Kind];
  if (make === undefined || !KINDS.includes(name as Kind)) {
    throw new Error(`heddle/shared has no handles of the kind "${kind}".`);
  }
  return make(ObjectMemory.adopt(name as Kind, buffer, thisThread()), detail);
}

/** The memory of a handle. */
export let memoryOf: (handle: SharedObject) => ObjectMemory;

/** How they are printed: a bundler may change the names of classes. */
const NAMES: Partial<Record<Kind, string>> = {
  map: "SharedMap",
  mutex: "Mutex",
  rwLock: "RwLock",
  semaphore: "Semaphore",
  condition: "Condition",
  barrier: "Barrier",
  waitGroup: "WaitGroup",
  once: "Once",
  event: "Event",
  vector: "SharedVector",
  counter: "AtomicCounter",
  flag: "AtomicFlag",
};

/** Base of all handles. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor defines it; classes may declare no such key
export interface SharedObject extends SharedHandle {}
export abstract class SharedObject extends Uncloneable {
  readonly #memory: ObjectMemory;

  /** @internal */
  constructor(kind: string, memory: ObjectMemory) {
    super();
    // Not enumerable: the codec takes objects with properties for ordinary ones.
    const value: HandleParts = { kind, buffer: memory.buffer };
    Object.defineProperty(this, HANDLE, { value });
    this.#memory = memory;
  }

  static {
    memoryOf = (handle) => handle.#memory;
    printAs(this.prototype, (handle) => {
      if (!(#memory in handle)) return "an object of heddle/shared";
      const { kind } = handle[HANDLE];
      return `${NAMES[kind as Kind] ?? kind} (shared by threads)`;
    });
  }
}
