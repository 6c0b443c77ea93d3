/** Names of what `hot` and `adapter` measure: runs, tables and charts tell them apart. */

/** Calls at once. */
export const HOT_SIZES = [1, 100] as const;

/** An object of some 200 bytes as JSON. */
export const PERSON = {
  id: 123_456,
  name: "Ada Lovelace",
  email: "ada@example.org",
  tags: ["maths", "engines", "poetry"],
  address: { street: "St James's Square 12", city: "London", zip: "SW1Y 4JH" },
  active: true,
  score: 9.75,
};
const TEXT_LENGTH = 10_000;

export const NUMBER = "a number";
export const OBJECT = "an object of 200 B";
export const TEXT = "a string of 10 KB";

export interface HotValue {
  readonly name: string;
  readonly create: () => unknown;
}

export const HOT_VALUES = [
  { name: NUMBER, create: (): unknown => 1.5 },
  { name: OBJECT, create: (): unknown => PERSON },
  { name: TEXT, create: (): unknown => "heddle ".repeat(TEXT_LENGTH).slice(0, TEXT_LENGTH) },
] as const satisfies readonly HotValue[];

/** The adapter and what it takes the place of, with their defaults: one task at a time in a worker. */
export const ADAPTER = "@heddle/piscina";
export const WITH_TWO = "2 workers";
