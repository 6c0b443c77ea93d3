/** Compile-time assertions: the types of declared shapes. Checked by `npm run typecheck`. */
import type {
  ArrayView,
  Infer,
  InferInput,
  InferView,
  NumericArrayView,
} from "../../src/features/values/structs/schema/field-types.ts";
import {
  array,
  bool,
  bytes,
  f64,
  i64,
  optional,
  struct,
  u32,
  utf8,
} from "../../src/features/values/structs/schema/schema.ts";
import { codecOf } from "../../src/features/values/structs/schema/shape-of.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}
type IsAny<T> = 0 extends 1 & T ? true : false;

const Point = struct({ x: f64, y: f64 });
type Point = Infer<typeof Point>;
const User = struct({
  id: u32,
  active: bool,
  big: i64,
  name: utf8(32),
  bio: utf8(),
  home: Point,
  samples: array(f64),
  friends: array(Point, 8),
  grid: array(array(utf8())),
  data: bytes(),
  email: optional(utf8(64)),
  work: optional(Point),
});
type User = Infer<typeof User>;

assert<Equal<Point, { x: number; y: number }>>();
assert<
  Equal<User, {
    id: number;
    active: boolean;
    big: bigint;
    name: string;
    bio: string;
    home: { x: number; y: number };
    samples: number[];
    friends: { x: number; y: number }[];
    grid: string[][];
    data: Uint8Array<ArrayBuffer>;
    email?: string;
    work?: { x: number; y: number };
  }>
>();
assert<Equal<Infer<typeof f64>, number>>();
assert<Equal<Infer<ReturnType<typeof utf8>>, string>>();
const flags = array(bool);
assert<Equal<Infer<typeof flags>, boolean[]>>();
const empty = struct({});
assert<Equal<keyof Infer<typeof empty>, never>>();
assert<Equal<IsAny<User>, false>>();
assert<Equal<IsAny<User["friends"][number]["x"]>, false>>();
assert<Equal<IsAny<InferView<typeof User>["friends"]>, false>>();

type Input = InferInput<typeof User>;
assert<Equal<Input["samples"], readonly number[] | Float64Array>>();
assert<Equal<Input["grid"], readonly (readonly string[])[]>>();
assert<Equal<Input["email"], string | undefined>>();
const given: User = null as unknown as User;
export const input: Input = given;

type View = InferView<typeof User>;
assert<Equal<View["id"], number>>();
assert<Equal<View["email"], string | undefined>>();
assert<Equal<View["samples"], NumericArrayView<"f64">>>();
assert<Equal<View["friends"], ArrayView<InferView<typeof Point>, Point>>>();
assert<Equal<ReturnType<View["samples"]["copy"]>, Float64Array<ArrayBuffer>>>();
assert<Equal<ReturnType<View["data"]["copy"]>, Uint8Array<ArrayBuffer>>>();
assert<Equal<ReturnType<View["home"]["toObject"]>, Point>>();

const hiding = struct({ revoke: u32, toObject: utf8() });
type Hiding = InferView<typeof hiding>;
assert<Equal<Hiding["revoke"], number>>();
assert<Equal<Hiding["toObject"], string>>();

const codec = codecOf(User);
assert<Equal<ReturnType<typeof codec.read>, User>>();
assert<Equal<ReturnType<typeof codec.view>, View>>();

export function accepted(): void {
  const absent: Infer<typeof User> = { ...given };
  delete absent.email;
  const view = null as unknown as View;
  for (const friend of view.friends) friend.x.toFixed();
  view.friends.at(0)?.toObject().x.toFixed();
  view.revoke();
}

export function refused(): void {
  // @ts-expect-error not a field type
  struct({ a: 5 });
  // @ts-expect-error a field type that must be called
  struct({ a: utf8 });
  // @ts-expect-error an array has no absent elements
  array(optional(f64));
  // @ts-expect-error once is enough
  optional(optional(f64));
  // @ts-expect-error an object that merely looks like a field type
  struct({ a: { kind: "f64" } });
  // @ts-expect-error undefined is not absent
  const user: User = { ...given, email: undefined };
  // @ts-expect-error an unknown key
  const point: Point = { x: 1, y: 2, z: 3 };
  // @ts-expect-error views are read only
  (null as unknown as View).id = user.id + point.x;
  // @ts-expect-error only numbers are copied to a typed array
  (null as unknown as View).friends.copy();
  // @ts-expect-error a field is no schema
  codecOf(f64);
}
