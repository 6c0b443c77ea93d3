/** A value some of whose parts are to move, as `transfer()` makes it: users see the value's own type. */
export class Transfer {
  readonly value: unknown;
  readonly #list: readonly unknown[];

  constructor(value: unknown, list: readonly unknown[]) {
    this.value = value;
    this.#list = list;
  }

  /** What is to move; undefined for anything that is no Transfer. */
  static listOf(object: object): readonly unknown[] | undefined {
    return #list in object ? object.#list : undefined;
  }
}
