import { brandOf, setBrand } from "../../../codec/support/brands.ts";

/** A value with parts to transfer, made by `transfer()`, which declares the type of the value itself. */
export class Transfer {
  readonly value: unknown;

  constructor(value: unknown, list: readonly unknown[]) {
    this.value = value;
    setBrand(this, list);
  }

  /** The objects to transfer; undefined if `object` is not a Transfer. */
  static listOf(object: object): readonly unknown[] | undefined {
    const brand = brandOf(object);
    return typeof brand === "object" ? brand : undefined;
  }
}
