/** How objects of heddle are printed: `console.log` of Node, Deno and Bun shows the text that their method of this name returns. */
export const PRINTED: unique symbol = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");

/** The same for an `EventTarget` of Deno, which has such a method already. */
export const EVENT_TARGET_PRINTED: unique symbol = /* @__PURE__ */ Symbol.for(
  "Deno.privateCustomInspect",
);
