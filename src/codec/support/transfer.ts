import { brandOf, setBrand } from "./brands.ts";

/** A value some of whose parts are to move, as `transfer()` makes it: users see the value's own type. */
export class Transfer {
  readonly value: unknown;

  constructor(value: unknown, list: readonly unknown[]) {
    this.value = value;
    setBrand(this, list);
  }

  /** What is to move; undefined for anything that is no Transfer. */
  static listOf(object: object): readonly unknown[] | undefined {
    const brand = brandOf(object);
    return typeof brand === "object" ? brand : undefined;
  }
}
