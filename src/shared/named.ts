/**
 * Names: the same name is the same object in every thread of the process. The first thread keeps the table; workers ask the
 * thread that started them, which asks its own.
 */
import { Map, Promise } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import { invalid, show } from "../option-checks.ts";
import { workerRealm } from "../realm/worker-realm.ts";
import { makeHandle, memoryOf, type SharedObject } from "./handles.ts";
import { type Kind, ObjectMemory } from "./memory.ts";
import { thisThread } from "./threads/this-thread.ts";

/** The name, kind and options of an object. All threads have to give the same. */
interface Wanted {
  readonly name: string;
  readonly kind: string;
  /** With their defaults, as a text. */
  readonly options: string;
}

/** What is asked for by a name. */
export interface Named {
  readonly name: string;
  readonly kind: Kind;
  /** What users call the kind. @default kind */
  readonly label?: string;
  /** The options with their defaults, in one order. Throws InvalidArgumentError. */
  readonly options?: () => object;
}

interface Entry extends Wanted {
  readonly buffer: SharedArrayBuffer;
}

interface Question {
  readonly id: number;
  readonly wanted: Wanted;
  /** What the asking thread has made, if there is none of this name. */
  readonly made: SharedArrayBuffer;
}

interface Answer {
  readonly id: number;
  readonly entry: Entry;
}

const KEY = Symbol.for("heddle.shared.names");

interface Names {
  /** Entries known here; in the first thread all there are. */
  readonly entries: Map<string, Entry>;
  /** The handle of each, in this copy of heddle or another. */
  readonly handles: Map<string, object>;
  readonly questions: Map<number, (entry: Entry) => void>;
  next: number;
}

function names(): Names {
  const global = globalThis as { [KEY]?: Names };
  return global[KEY] ??= { entries: new Map(), handles: new Map(), questions: new Map(), next: 0 };
}

/**
 * Finds the entry of a name, which this thread or one above it has, or takes from `made`. By a callback: a thread that waits for
 * the worker that asks (`pool.sync`) runs no promises.
 */
function find(wanted: Wanted, made: SharedArrayBuffer, onFound: (entry: Entry) => void): void {
  const { entries, questions } = names();
  const known = entries.get(wanted.name);
  if (known !== undefined) return onFound(known);
  const shared = workerRealm()?.shared;
  if (shared === undefined) {
    const entry = { ...wanted, buffer: made };
    entries.set(wanted.name, entry);
    return onFound(entry);
  }
  shared.receive ??= (body) => {
    const { id, entry } = body as Answer;
    questions.get(id)?.(entry);
    questions.delete(id);
  };
  const id = names().next++;
  questions.set(id, (found) => {
    // Somebody may have asked in between.
    const entry = entries.get(wanted.name) ?? found;
    entries.set(wanted.name, entry);
    onFound(entry);
  });
  shared.post({ id, wanted, made } satisfies Question);
}

/** A worker has asked. */
export function answer(body: unknown, reply: (body: unknown) => void): void {
  const { id, wanted, made } = body as Question;
  find(wanted, made, (entry) => reply({ id, entry } satisfies Answer));
}

/**
 * The memory of the object of this name, which `make` makes if there is none. Rejects with InvalidArgumentError if there is one that was made
 * differently.
 */
export async function namedMemory(
  { name, kind, label = kind, options = () => ({}) }: Named,
  make: () => ObjectMemory,
): Promise<ObjectMemory> {
  if (typeof name !== "string" || name === "") {
    throw invalid(`The name of a shared ${label}`, "a text that is not empty", show(name));
  }
  const thread = thisThread();
  const wanted = { name, kind: label, options: describe(options()) };
  const known = names().entries.get(name);
  const entry = known ??
    await new Promise<Entry>((resolve) => find(wanted, make().buffer, resolve));
  if (entry.kind !== label || entry.options !== wanted.options) {
    throw new InvalidArgumentError(
      `The shared ${entry.kind} ${
        show(name)
      } was made with ${entry.options}, and is wanted as a ${label} with ${wanted.options}: all have to give the same options.`,
    );
  }
  return ObjectMemory.adopt(kind, entry.buffer, thread);
}

/** The handle of the object of this name in this thread. */
export async function named<Handle extends SharedObject>(
  wanted: Named,
  make: () => Handle,
): Promise<Handle> {
  const memory = await namedMemory(wanted, () => memoryOf(make()));
  const { name, kind } = wanted;
  const { handles } = names();
  let handle = handles.get(name);
  if (handle === undefined) handles.set(name, handle = makeHandle(kind, memory.buffer));
  return handle as Handle;
}

/** Options as a text that is the same for the same options. */
function describe(options: object): string {
  const entries = Object.entries(options).map(([name, value]) => `${name} ${show(value)}`);
  return entries.length === 0 ? "no options" : entries.join(", ");
}
