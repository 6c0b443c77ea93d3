/** How objects of heddle are printed: `console.log` of Node, Deno and Bun shows the text that their method of this name returns. */
export const PRINTED: unique symbol = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");

/** The same for an `EventTarget` of Deno, which has such a method already. */
export const EVENT_TARGET_PRINTED: unique symbol = /* @__PURE__ */ Symbol.for(
  "Deno.privateCustomInspect",
);

/** Objects of this prototype are printed as `text` of them. For public classes, whose declarations cannot have a method of that name. */
export function printAs<T extends object>(prototype: T, text: (printed: T) => string): void {
  const value = function (this: T): string {
    return text(this);
  };
  Object.defineProperty(prototype, PRINTED, { value, writable: true, configurable: true });
}
