/** Listeners, and objects of workers, among the arguments of calls: what tasks may call for longer than their own call. */
import { FinalizationRegistry, Map, Proxy, WeakRef } from "../../../../builtins.ts";
import type { HeldArgument } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { hostRequests } from "./host-requests.ts";

type Call = (...args: unknown[]) => Promise<unknown>;

/** Calls a method of an object that lives in this worker. Undefined: it does not. */
type CallHere = (
  number: number,
  name: string,
  args: readonly unknown[],
) => Promise<unknown> | undefined;

export class References {
  readonly #core: WorkerCore;
  /** By number, so that one that arrives again is the same function or object. */
  readonly #known = new Map<number, WeakRef<object>>();
  readonly #collected = new FinalizationRegistry<number>((number) => {
    if (this.#known.get(number)?.deref() === undefined) this.#known.delete(number);
  });
  /** Set by those who keep objects. */
  callHere: CallHere | undefined;

  constructor(core: WorkerCore) {
    this.#core = core;
  }

  listener(number: number): HeldArgument {
    return this.#held(number, () => (...args: unknown[]) => this.#ask("listener", number, args));
  }

  object(number: number): HeldArgument {
    return this.#held(number, () => {
      const methods = Object.create(null) as Record<string, Call>;
      const method = (name: string): Call => (...args) =>
        this.callHere?.(number, name, args) ?? this.#ask("object", number, [name, ...args]);
      const get = (_target: object, name: string | symbol): Call | undefined =>
        typeof name === "symbol" || HAS_NOT.includes(name)
          ? undefined
          : methods[name] ??= method(name);
      return new Proxy(methods, { get });
    });
  }

  #ask(target: "listener" | "object", number: number, args: readonly unknown[]): Promise<unknown> {
    return this.#core.part(hostRequests).request([target, number], args);
  }

  #held(number: number, make: () => object): HeldArgument {
    let value = this.#known.get(number)?.deref();
    if (value === undefined) {
      value = make();
      this.#known.set(number, new WeakRef(value));
      this.#collected.register(value, number);
    }
    return { value, bind: ignore, close: ignore };
  }
}

/** What others look for in any object; and whoever has made an object ends it. */
const HAS_NOT: readonly string[] = [
  "then",
  "constructor",
  "toString",
  "valueOf",
  "toJSON",
  "$release",
];

function ignore(): void {}

/** Those of a worker (`WorkerCore.part`). */
export function references(core: WorkerCore): References {
  return new References(core);
}
