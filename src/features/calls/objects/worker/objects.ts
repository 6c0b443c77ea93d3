/** The objects that live in this worker: makes them, calls them, and disposes of them. */
import { Map, Promise, Set } from "../../../../builtins.ts";
import { InvalidArgumentError, ObjectLostError, TaskNotFoundError } from "../../../../errors.ts";
import { didYouMean } from "../../../../option-checks.ts";
import { isGeneratorFunction } from "../../../../protocol/generator-functions.ts";
import { importModule, LoadFailure } from "../../../../worker/loading/import-module.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { ARGUMENTS, RESULT_NAME } from "../../../../lane/snapshot.ts";
import { localValues } from "../../requests/worker/local-values.ts";
import { references } from "../../requests/worker/references.ts";
import { checkMethod, CREATE, type Created, GET, RELEASE, RESERVED } from "../operations.ts";

type Args = readonly unknown[];
type Methods = Record<string | symbol, (...args: Args) => unknown>;

type Constructor = new (...args: Args) => object;

/** Whether `new` makes something of it: a class, or an old constructor. Runs no code of it. */
function isConstructor(found: unknown): found is Constructor {
  try {
    Reflect.construct(Object, [], found as Constructor);
    return true;
  } catch {
    return false;
  }
}

interface Resident {
  readonly className: string;
  readonly value: object;
  /** Names, by number. */
  readonly methods: readonly string[];
  /** Those of generator functions. */
  readonly generators: readonly string[];
  /** Calls of this worker's own tasks and objects that have not ended, and who waits for their end. */
  calls: number;
  onIdle: (() => void) | undefined;
}

export class Objects {
  readonly #core: WorkerCore;
  /** By number, in the order in which they were made. */
  readonly #residents = new Map<number, Resident>();

  constructor(core: WorkerCore) {
    this.#core = core;
    core.realm.teardowns.push(() => this.#disposeAll());
    core.part(references).callHere = (id, name, args) => {
      const resident = this.#residents.get(id);
      return resident === undefined ? undefined : this.#callHere(resident, name, args);
    };
  }

  /** Runs a call of an object. */
  operate(id: number, operation: number, args: Args): unknown {
    if (operation === CREATE) return this.#create(id, args);
    if (operation === RELEASE) return this.#release(id);
    const resident = this.#residents.get(id);
    if (resident === undefined) throw new ObjectLostError("The object is gone: it was released.");
    const { value, methods } = resident;
    if (operation === GET) return getOf(value, args[0] as string);
    return (value as Methods)[methods[operation]!]!(...args);
  }

  /** The name of an operation, for observers. Undefined: the object is gone. */
  nameOf(id: number, operation: number): string | undefined {
    const resident = this.#residents.get(id);
    if (resident === undefined) return undefined;
    const { className, methods } = resident;
    if (operation === GET) return `${className}.$get`;
    return `${className}.${operation === RELEASE ? "$release" : methods[operation]!}`;
  }

  /** A call by a task or an object of this worker. */
  async #callHere(resident: Resident, name: string, given: Args): Promise<unknown> {
    resident.calls++;
    try {
      return await this.#callNow(resident, name, given);
    } finally {
      if (--resident.calls === 0) resident.onIdle?.();
    }
  }

  async #callNow(
    { value, methods, generators }: Resident,
    name: string,
    given: Args,
  ): Promise<unknown> {
    if (name !== "$get") checkMethod(name, methods, generators);
    const values = this.#core.part(localValues);
    const args = values.clone(given, ARGUMENTS);
    let result: unknown;
    try {
      result = await (name === "$get"
        ? getOf(value, args[0] as string)
        : (value as Methods)[name]!(...args));
    } catch (error) {
      throw values.cloneError(error);
    }
    return values.clone([result], RESULT_NAME)[0];
  }

  async #create(id: number, [url, name, ...args]: Args): Promise<Created> {
    const Class = await this.#find(url as string, name as string);
    const value = new Class(...args);
    if (isOpener(value)) {
      try {
        await value.open();
      } catch (error) {
        await dispose(value).catch(() => {}); // it was never open
        throw error;
      }
    }
    const methods = methodsOf(value);
    const generators = methods.filter((each) => isGeneratorFunction((value as Methods)[each]));
    this.#residents.set(id, {
      className: name as string,
      value,
      methods,
      generators,
      calls: 0,
      onIdle: undefined,
    });
    return [this.#core.start.workerId, methods, generators];
  }

  async #find(url: string, name: string): Promise<Constructor> {
    try {
      const { module } = await importModule(url, this.#core.runtime);
      const found = module[name];
      if (isConstructor(found)) return found;
      const names = Object.keys(module).filter((each) => isConstructor(module[each]));
      throw new TaskNotFoundError(
        `The module ${url} has no class "${name}"${
          didYouMean(name, names)
        } Export it by this name: export class ${name} {}.`,
      );
    } catch (error) {
      throw error instanceof LoadFailure ? error.reason : error;
    }
  }

  async #release(id: number): Promise<void> {
    const resident = this.#residents.get(id);
    this.#residents.delete(id);
    if (resident === undefined) return;
    if (resident.calls > 0) await new Promise<void>((resolve) => resident.onIdle = resolve);
    await dispose(resident.value);
  }

  /** The last first, which may call the others. Rejects with the first error, after all. */
  async #disposeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const [id, { value }] of [...this.#residents].reverse()) {
      this.#residents.delete(id);
      await dispose(value).catch((error) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** Whether it has a method `open` without parameters. */
function isOpener(value: object): value is { open(): unknown } {
  const { open } = value as { readonly open?: unknown };
  return typeof open === "function" && open.length === 0;
}

function getOf(value: object, name: string): unknown {
  if (name in value) return (value as Record<string, unknown>)[name];
  throw new InvalidArgumentError(`The object has no property "${name}".`);
}

/** Calls what a class has to end its objects. */
async function dispose(value: object): Promise<void> {
  const methods = value as Partial<Methods>;
  const end = methods[Symbol.asyncDispose] ?? methods[Symbol.dispose];
  if (typeof end === "function") await end.call(value);
}

/** Names of what can be called, its own and what it inherits. */
function methodsOf(value: object): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (seen.has(name)) continue; // overridden
      seen.add(name);
      if (typeof property.value === "function" && !RESERVED.has(name)) found.add(name);
    }
  }
  if (isOpener(value)) found.delete("open");
  return [...found];
}
