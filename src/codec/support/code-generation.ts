/**
 * Making code from source text. Of what users choose, keys alone enter it, through `JSON.stringify`, so
 * that no key can say anything but its own name.
 */

/**
 * Evaluates the body of a function with `names` in scope, as constants, which the engine may then fold
 * into the code. Throws EvalError where that is forbidden.
 */
export function evaluate<Made>(body: string, names: Readonly<Record<string, unknown>> = {}): Made {
  const scope = `const { ${Object.keys(names).join(", ")} } = names;`;
  return new Function("names", `"use strict";\n${scope}\n${body}`)(names) as Made;
}

/** A property of an object literal. Computed, `__proto__` is a key like any other. */
export function property(key: string, value: string): string {
  return `${key === "__proto__" ? `["__proto__"]` : JSON.stringify(key)}: ${value}`;
}

let isAllowed: boolean | undefined;

/** Whether code may be made from strings here (not under a strict content security policy). */
export function canCompile(): boolean {
  if (isAllowed === undefined) {
    try {
      isAllowed = evaluate<boolean>("return true;");
    } catch {
      isAllowed = false; // the question asked
    }
  }
  return isAllowed;
}
