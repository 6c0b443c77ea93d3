/**
 * Objects that structured clone refuses: it would copy nothing of a handle, and deliver an empty object. No language feature marks an
 * object so, but each engine refuses objects of the built-in kinds that it cannot copy; this is the cheapest of them, without its methods.
 */
import { FinalizationRegistry } from "../builtins.ts";

const unused = (): void => {};
const Refused = FinalizationRegistry as unknown as new (unused: () => void) => object;

/** Base of handles. */
export class Uncloneable extends Refused {
  constructor() {
    super(unused);
  }
}
Object.setPrototypeOf(Uncloneable.prototype, Object.prototype);
