import { defineOwn, ownValue } from "./own-property.ts";

/** From the registry, so that what another copy of this library has made is known too. */
const TRANSFER = Symbol.for("heddle.transfer");

/** A value some of whose parts are to move, as `transfer()` makes it: users see the value's own type. */
export class Transfer {
  readonly value: unknown;

  constructor(value: unknown, list: readonly unknown[]) {
    this.value = value;
    defineOwn(this, TRANSFER, { value: list });
  }

  /** What is to move; undefined for anything that is no Transfer. */
  static listOf(object: object): readonly unknown[] | undefined {
    return ownValue(object, TRANSFER) as readonly unknown[] | undefined;
  }
}
