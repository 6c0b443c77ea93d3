/** `pool.call`: the tasks of a pool by name, which says so when it is asked for one that there is not. */
import { defineOwn } from "../codec/own-property.ts";
import { UnknownTaskError } from "../errors.ts";

/** What promises, inspectors and test runners ask of any object. */
const PROBED: ReadonlySet<string> = new Set([
  "then",
  "toJSON",
  "constructor",
  "inspect",
  "href",
  "protocol",
  "nodeType",
  "$$typeof",
  "asymmetricMatch",
]);

/** A table without calls. `names`: of those that it will have. */
export function createCallTable(names: readonly string[]): object {
  return Object.create(
    new Proxy(Object.create(null) as object, {
      get: (_target, key) => {
        if (typeof key === "symbol" || PROBED.has(key)) return undefined;
        throw new UnknownTaskError(key, names);
      },
    }),
  ) as object;
}

export function addCall(table: object, name: string, call: unknown): void {
  defineOwn(table, name, { value: call, enumerable: true });
}
