/** The objects that live in this worker: makes them, calls them, and disposes of them. */
import { Map, Promise, Set } from "../../../../builtins.ts";
import { InvalidArgumentError, ObjectLostError, TaskNotFoundError } from "../../../../errors.ts";
import { didYouMean } from "../../../../option-checks.ts";
import { isGeneratorFunction } from "../../../../protocol/generator-functions.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import { importModule, LoadFailure } from "../../../../worker/loading/import-module.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { CREATE, type Created, GET, RELEASE, RESERVED } from "../operations.ts";

type Args = readonly unknown[];
type Methods = Record<string | symbol, (...args: Args) => unknown>;

/** A call that waits until those before it have ended. */
type Turn = () => void;

interface Resident {
  readonly value: object;
  /** Names, by number. */
  readonly methods: readonly string[];
  /** Most calls whose promises have not settled. */
  readonly concurrency: number;
  running: number;
  readonly waiting: Turn[];
  /** Disposes of it, once no call runs or waits. */
  end: (() => void) | undefined;
}

export class Objects {
  readonly #core: WorkerCore;
  /** By number, in the order in which they were made. */
  readonly #residents = new Map<number, Resident>();

  constructor(core: WorkerCore) {
    this.#core = core;
    core.realm.teardowns.push(() => this.#disposeAll());
  }

  /** Runs a call of an object. `signal`: of the call, if it may be aborted. */
  operate(id: number, operation: number, args: Args, signal: AbortSignal | undefined): unknown {
    if (operation === CREATE) return this.#create(id, args, signal);
    const resident = this.#residents.get(id);
    if (resident === undefined) throw new ObjectLostError("The object is gone: it was released.");
    if (operation === GET) return this.#get(resident.value, args[0] as string);
    if (operation === RELEASE) return this.#release(id, resident);
    const call = (): unknown => (resident.value as Methods)[resident.methods[operation]!]!(...args);
    if (resident.running < resident.concurrency && resident.waiting.length === 0) {
      return this.#run(resident, call);
    }
    return new Promise((resolve, reject) => {
      resident.waiting.push(() => {
        if (signal?.aborted) return reject(signal.reason as Error); // its caller has its answer
        try {
          resolve(this.#run(resident, call));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  #run(resident: Resident, call: () => unknown): unknown {
    const result = call();
    if (!isThenable(result)) return result;
    resident.running++;
    const promise = Promise.resolve(result);
    const over = (): void => {
      resident.running--;
      this.#continue(resident);
    };
    promise.then(over, over);
    return promise;
  }

  /** Runs what waits, as far as it may. */
  #continue(resident: Resident): void {
    const { waiting, concurrency } = resident;
    while (resident.running < concurrency && waiting.length > 0) waiting.shift()!();
    if (resident.running === 0 && waiting.length === 0) resident.end?.();
  }

  async #create(
    id: number,
    [url, name, concurrency, ...args]: Args,
    signal: AbortSignal | undefined,
  ): Promise<Created> {
    const Class = await this.#find(url as string, name as string);
    signal?.throwIfAborted();
    const value = new Class(...args);
    const { open } = value as { readonly open?: unknown };
    try {
      if (typeof open === "function") await (open as () => unknown).call(value);
      signal?.throwIfAborted();
    } catch (error) {
      await dispose(value);
      throw error;
    }
    const methods = methodsOf(value);
    this.#residents.set(id, {
      value,
      methods,
      concurrency: concurrency as number,
      running: 0,
      waiting: [],
      end: undefined,
    });
    const generators = methods.filter((each) => isGeneratorFunction((value as Methods)[each]));
    return [this.#core.start.workerId, methods, generators];
  }

  async #find(url: string, name: string): Promise<new (...args: Args) => object> {
    try {
      const { module } = await importModule(url, this.#core.runtime);
      const found = module[name];
      if (typeof found === "function") return found as new (...args: Args) => object;
      const names = Object.keys(module).filter((each) => typeof module[each] === "function");
      throw new TaskNotFoundError(
        `The module ${url} has no class "${name}"${
          didYouMean(name, names)
        } Export it by this name: export class ${name} {}.`,
      );
    } catch (error) {
      throw error instanceof LoadFailure ? error.reason : error;
    }
  }

  #get(value: object, name: string): unknown {
    if (name in value) return (value as Record<string, unknown>)[name];
    throw new InvalidArgumentError(`The object has no property "${name}".`);
  }

  #release(id: number, resident: Resident): Promise<void> {
    return new Promise((resolve) => {
      resident.end = () => {
        this.#residents.delete(id);
        resolve(dispose(resident.value));
      };
      this.#continue(resident);
    });
  }

  /** The last first. */
  async #disposeAll(): Promise<void> {
    const residents = [...this.#residents.values()].reverse();
    this.#residents.clear();
    for (const { value } of residents) await dispose(value);
  }
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
  return [...found];
}
