/**
 * Asynchronous contexts where the platform has none. The value is known while `run` runs its function; after an `await`
 * only if no other `run` is unfinished. So with several calls at once in a worker, what code after an `await` belongs to is
 * unknown there.
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
    get: () => {
      if (stack.length > 0) return stack.at(-1);
      if (unfinished.size !== 1) return undefined;
      const [only] = unfinished;
      return only;
    },
  };
}
