/**
 * Asynchronous contexts where the platform has none. The value is known while `run` runs its function, and not after an
 * `await`: there it can be guessed if nothing else is unfinished.
 */
import { Promise, Set } from "../../builtins.ts";
import type { AsyncContext } from "../runtime.ts";

export function createContext<Value>(): AsyncContext<Value> {
  const stack: Value[] = [];
  const unfinished = new Set<Value>();
  return {
    run: <Result>(value: Value, f: () => Result): Result => {
      stack.push(value);
      try {
        const result = f();
        if (result instanceof Promise) {
          unfinished.add(value);
          const end = (): void => void unfinished.delete(value);
          result.then(end, end);
        }
        return result;
      } finally {
        stack.pop();
      }
    },
    get: () => stack.at(-1),
    guess: () => {
      if (unfinished.size !== 1) return undefined;
      const [only] = unfinished;
      return only;
    },
  };
}
