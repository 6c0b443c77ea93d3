/** Code generation from source text. The only user input in it are keys, quoted by `JSON.stringify`, so that none can inject code. */
import { JSON } from "../../builtins.ts";

/**
 * Evaluates the body of a function with `names` in scope, as constants that the engine may fold into the
 * code. Throws EvalError if code generation is forbidden.
 */
export function evaluate<Made>(body: string, names: Readonly<Record<string, unknown>> = {}): Made {
  const scope = `const { ${Object.keys(names).join()} } = names;`;
  return new Function("names", `"use strict";\n${scope}\n${body}`)(names) as Made;
}

let isAllowed: boolean | undefined;

/** Whether code may be generated from strings (not under a strict content security policy). */
export function canCompile(): boolean {
  if (isAllowed === undefined) {
    try {
      isAllowed = evaluate<boolean>("return true;");
    } catch {
      isAllowed = false;
    }
  }
  return isAllowed;
}

/** A property of an object literal. A computed `__proto__` is an ordinary key. */
export function property(key: string, value: string): string {
  return `${key === "__proto__" ? `["__proto__"]` : JSON.stringify(key)}: ${value}`;
}
